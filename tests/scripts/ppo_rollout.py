"""PPO: vector environment in numpy, rollout storage, distributions, generalised advantages."""

import os
import random
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions.categorical import Categorical
from torch.distributions.normal import Normal


@dataclass
class Args:
    exp_name: str = os.path.basename(__file__)[: -len(".py")]
    seed: int = 1
    cuda: bool = True
    torch_deterministic: bool = True
    num_envs: int = 2
    num_steps: int = 8
    total: int = 32
    gamma: float = 0.99
    gae_lambda: float = 0.95
    minibatches: int = 2
    update_epochs: int = 2
    clip: float = 0.2
    norm_adv: bool = True
    continuous: bool = False
    batch_size: int = 0
    minibatch_size: int = 0


class VectorEnv:
    def __init__(self, n, size=4):
        self.n, self.size = n, size
        self.state = np.zeros((n, size), dtype=np.float32)

    def reset(self, seed=None):
        self.rng = np.random.RandomState(seed)
        self.state = self.rng.randn(self.n, self.size).astype(np.float32)
        return self.state, {}

    def step(self, action):
        reward = self.state[:, 0] * (np.asarray(action).reshape(self.n, -1)[:, 0] - 0.5)
        self.state = self.rng.randn(self.n, self.size).astype(np.float32)
        done = self.rng.rand(self.n) < 0.1
        return self.state, reward, done, np.zeros_like(done), {}


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self, n_in, n_out, continuous):
        super().__init__()
        self.critic = nn.Sequential(
            layer_init(nn.Linear(n_in, 16)), nn.Tanh(), layer_init(nn.Linear(16, 1), std=1.0)
        )
        self.actor = nn.Sequential(
            layer_init(nn.Linear(n_in, 16)), nn.Tanh(), layer_init(nn.Linear(16, n_out), std=0.01)
        )
        self.continuous = continuous
        if continuous:
            self.logstd = nn.Parameter(torch.zeros(1, n_out))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        logits = self.actor(x)
        if self.continuous:
            probs = Normal(logits, torch.exp(self.logstd.expand_as(logits)))
        else:
            probs = Categorical(logits=logits)
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


class RunningNorm:
    def __init__(self, shape, device):
        self.mean = torch.zeros(shape, device=device)
        self.var = torch.ones(shape, device=device)
        self.count = 1e-4

    def __call__(self, x):
        batch_mean, batch_var = x.mean(0), x.var(0, unbiased=False)
        total = self.count + x.shape[0]
        delta = batch_mean - self.mean
        self.mean = self.mean + delta * x.shape[0] / total
        self.var = (self.var * self.count + batch_var * x.shape[0]) / total
        self.count = total
        return (x - self.mean) / torch.sqrt(self.var + 1e-8)


if __name__ == "__main__":
    args = Args()
    args.batch_size = int(args.num_envs * args.num_steps)
    args.minibatch_size = int(args.batch_size // args.minibatches)
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    torch.backends.cudnn.deterministic = args.torch_deterministic
    device = torch.device("cuda" if torch.cuda.is_available() and args.cuda else "cpu")

    envs = VectorEnv(args.num_envs)
    agent = Agent(envs.size, 2, args.continuous).to(device)
    optimizer = optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)
    normalise = RunningNorm(envs.size, device)

    obs = torch.zeros((args.num_steps, args.num_envs, envs.size)).to(device)
    actions = torch.zeros((args.num_steps, args.num_envs)).to(device)
    logprobs = torch.zeros((args.num_steps, args.num_envs)).to(device)
    rewards = torch.zeros((args.num_steps, args.num_envs)).to(device)
    dones = torch.zeros((args.num_steps, args.num_envs)).to(device)
    values = torch.zeros((args.num_steps, args.num_envs)).to(device)

    next_obs, _ = envs.reset(seed=args.seed)
    next_obs = torch.Tensor(next_obs).to(device)
    next_done = torch.zeros(args.num_envs).to(device)

    for iteration in range(1, args.total // args.batch_size + 1):
        optimizer.param_groups[0]["lr"] = (1.0 - iteration / 10) * 2.5e-4
        for step in range(args.num_steps):
            obs[step] = next_obs
            dones[step] = next_done
            with torch.no_grad():
                action, logprob, _, value = agent.get_action_and_value(next_obs)
                values[step] = value.flatten()
            actions[step] = action
            logprobs[step] = logprob
            next_obs, reward, terminations, truncations, infos = envs.step(action.cpu().numpy())
            next_done = np.logical_or(terminations, truncations)
            rewards[step] = torch.tensor(reward).to(device).view(-1)
            next_obs, next_done = torch.Tensor(next_obs).to(device), torch.Tensor(next_done).to(device)
            next_obs = normalise(next_obs)

        with torch.no_grad():
            next_value = agent.get_value(next_obs).reshape(1, -1)
            advantages = torch.zeros_like(rewards).to(device)
            lastgaelam = 0
            for t in reversed(range(args.num_steps)):
                if t == args.num_steps - 1:
                    nextnonterminal = 1.0 - next_done
                    nextvalues = next_value
                else:
                    nextnonterminal = 1.0 - dones[t + 1]
                    nextvalues = values[t + 1]
                delta = rewards[t] + args.gamma * nextvalues * nextnonterminal - values[t]
                lastgaelam = delta + args.gamma * args.gae_lambda * nextnonterminal * lastgaelam
                advantages[t] = lastgaelam
            returns = advantages + values

        b_obs = obs.reshape((-1, envs.size))
        b_logprobs = logprobs.reshape(-1)
        b_actions = actions.reshape(-1)
        b_advantages = advantages.reshape(-1)
        b_returns = returns.reshape(-1)

        b_inds = np.arange(args.batch_size)
        clipfracs = []
        for epoch in range(args.update_epochs):
            np.random.shuffle(b_inds)
            for start in range(0, args.batch_size, args.minibatch_size):
                mb_inds = b_inds[start : start + args.minibatch_size]
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(
                    b_obs[mb_inds], b_actions.long()[mb_inds]
                )
                logratio = newlogprob - b_logprobs[mb_inds]
                ratio = logratio.exp()
                with torch.no_grad():
                    approx_kl = ((ratio - 1) - logratio).mean()
                    clipfracs += [((ratio - 1.0).abs() > args.clip).float().mean().item()]
                mb_advantages = b_advantages[mb_inds]
                if args.norm_adv:
                    mb_advantages = (mb_advantages - mb_advantages.mean()) / (
                        mb_advantages.std() + 1e-8
                    )
                pg_loss1 = -mb_advantages * ratio
                pg_loss2 = -mb_advantages * torch.clamp(ratio, 1 - args.clip, 1 + args.clip)
                pg_loss = torch.max(pg_loss1, pg_loss2).mean()
                v_loss = 0.5 * ((newvalue.view(-1) - b_returns[mb_inds]) ** 2).mean()
                loss = pg_loss - 0.01 * entropy.mean() + v_loss * 0.5
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        print(iteration, approx_kl.item(), np.mean(clipfracs), loss.item())
