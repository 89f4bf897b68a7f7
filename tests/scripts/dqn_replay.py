"""Deep Q-learning: numpy environment, replay buffer of named tuples, target network."""

import random
from collections import deque, namedtuple

import numpy as np
import torch
from torch import nn, optim

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward", "done"))


class Corridor:
    """Walk right to win."""

    n_actions = 2

    def __init__(self, length=6, seed=0):
        self.length = length
        self.rng = np.random.default_rng(seed)
        self.position = 0

    def _observe(self):
        one_hot = np.zeros(self.length, dtype=np.float32)
        one_hot[self.position] = 1.0
        return one_hot

    def reset(self):
        self.position = 0
        return self._observe(), {}

    def step(self, action):
        self.position = max(0, self.position + (1 if action == 1 else -1))
        done = self.position >= self.length - 1
        return self._observe(), float(done) - 0.01, done, False, {}


class ReplayBuffer:
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


class DuelingNet(nn.Module):
    def __init__(self, n_in, n_out, hidden=16):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU())
        self.value = nn.Linear(hidden, 1)
        self.advantage = nn.Linear(hidden, n_out)

    def forward(self, x):
        h = self.body(x)
        a = self.advantage(h)
        return self.value(h) + a - a.mean(dim=-1, keepdim=True)


class Agent:
    def __init__(self, n_in, n_actions, device, gamma=0.9, tau=0.05):
        self.device = device
        self.gamma, self.tau = gamma, tau
        self.n_actions = n_actions
        self.policy = DuelingNet(n_in, n_actions).to(device)
        self.target = DuelingNet(n_in, n_actions).to(device)
        self.target.load_state_dict(self.policy.state_dict())
        self.target.eval()
        self.optimizer = optim.AdamW(self.policy.parameters(), lr=1e-3, amsgrad=True)
        self.buffer = ReplayBuffer(500)
        self.criterion = nn.SmoothL1Loss()

    @torch.no_grad()
    def act(self, state, epsilon):
        if random.random() < epsilon:
            return torch.tensor([[random.randrange(self.n_actions)]], device=self.device)
        return self.policy(state).max(1)[1].view(1, 1)

    def learn(self, batch_size):
        if len(self.buffer) < batch_size:
            return None
        batch = Transition(*zip(*self.buffer.sample(batch_size)))
        non_final = torch.tensor([s is not None for s in batch.next_state], device=self.device)
        next_states = torch.cat([s for s in batch.next_state if s is not None])
        states = torch.cat(batch.state)
        actions = torch.cat(batch.action)
        rewards = torch.cat(batch.reward)
        q = self.policy(states).gather(1, actions)
        next_q = torch.zeros(batch_size, device=self.device)
        with torch.no_grad():
            best = self.policy(next_states).argmax(1, keepdim=True)
            next_q[non_final] = self.target(next_states).gather(1, best).squeeze(1)
        expected = rewards + self.gamma * next_q
        loss = self.criterion(q, expected.unsqueeze(1))
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(self.policy.parameters(), 100)
        self.optimizer.step()
        return loss.item()

    def soft_update(self):
        for slow, fast in zip(self.target.parameters(), self.policy.parameters()):
            slow.data.copy_(self.tau * fast.data + (1.0 - self.tau) * slow.data)


def main():
    random.seed(0)
    torch.manual_seed(0)
    if torch.cuda.is_available():
        dev = torch.device("cuda")
    else:
        dev = torch.device("cpu")
    env = Corridor()
    agent = Agent(env.length, env.n_actions, dev)
    losses = []
    for episode in range(3):
        obs, _ = env.reset()
        state = torch.from_numpy(obs).float().unsqueeze(0).to(dev)
        for t in range(12):
            action = agent.act(state, epsilon=0.5)
            obs, reward, terminated, truncated, _ = env.step(action.item())
            reward = torch.tensor([reward], device=dev)
            if terminated:
                next_state = None
            else:
                next_state = torch.tensor(obs, dtype=torch.float32, device=dev).unsqueeze(0)
            agent.buffer.push(state, action, next_state, reward, terminated)
            state = next_state
            loss = agent.learn(8)
            if loss is not None:
                losses.append(loss)
            agent.soft_update()
            if terminated or truncated:
                break
    print(len(losses), np.mean(losses))
    values = agent.policy(torch.eye(env.length, device=dev)).cpu().detach().numpy()
    print(values.argmax(1))


if __name__ == "__main__":
    main()
