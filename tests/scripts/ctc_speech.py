"""Recognises synthetic words from spectrograms: variable lengths, packing, CTC, greedy decoding."""

import itertools
import json
import logging

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler

log = logging.getLogger(__name__)
CONFIG = """{"hop": 16, "window": 32, "hidden": 12, "layers": 1, "epochs": 2, "batch": 3,
             "alphabet": "_abcd", "use_cuda": true}"""


class Config(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error


class Words(Dataset):
    def __init__(self, config, count=9):
        self.config = config
        self.window = torch.hann_window(config.window)
        letters = config.alphabet[1:]
        self.words = ["".join(w) for w in itertools.islice(itertools.permutations(letters, 3), count)]

    def __len__(self):
        return len(self.words)

    def wave(self, word):
        pieces = []
        for letter in word:
            pitch = 0.1 * (1 + self.config.alphabet.index(letter))
            pieces.append(torch.sin(pitch * torch.arange(96 + 8 * len(pieces))))
        return torch.cat(pieces)

    def __getitem__(self, index):
        word = self.words[index]
        wave = self.wave(word)
        spectrum = torch.stft(
            wave, self.config.window, self.config.hop, window=self.window, return_complex=True
        )
        features = spectrum.abs().clamp(min=1e-5).log().T
        target = torch.tensor([self.config.alphabet.index(c) for c in word])
        return features, target, word


def collate(samples):
    samples.sort(key=lambda sample: -len(sample[0]))
    features, targets, words = zip(*samples)
    lengths = torch.tensor([len(f) for f in features])
    sizes = torch.tensor([len(t) for t in targets])
    return pad_sequence(features, batch_first=True), lengths, torch.cat(targets), sizes, words


class MaskedConv(nn.Sequential):
    def forward(self, x, lengths):
        for layer in self:
            x = layer(x)
            mask = torch.arange(x.size(-1), device=x.device)[None, None] >= lengths.to(x.device)[:, None, None]
            x = x.masked_fill(mask, 0.0)
        return x


class Recogniser(nn.Module):
    def __init__(self, config):
        super().__init__()
        bins = config.window // 2 + 1
        self.conv = MaskedConv(nn.Conv1d(bins, config.hidden, 3, padding=1), nn.BatchNorm1d(config.hidden), nn.Hardtanh())
        self.rnn = nn.GRU(config.hidden, config.hidden, config.layers, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * config.hidden, len(config.alphabet))
        self.register_buffer("mean", torch.zeros(bins))
        self.register_buffer("seen", torch.tensor(0))

    def forward(self, features, lengths):
        if self.training:
            self.seen += 1
            self.mean.lerp_(features.mean((0, 1)), 1 / self.seen.item())
        x = (features - self.mean).transpose(1, 2)
        x = self.conv(x, lengths).transpose(1, 2)
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True)
        out, _ = self.rnn(packed)
        out, lengths = pad_packed_sequence(out, batch_first=True)
        return self.head(out).log_softmax(-1), lengths


def greedy(scores, lengths, alphabet):
    best = scores.argmax(-1)
    texts = []
    for row, length in zip(best, lengths):
        kept = torch.unique_consecutive(row[:length])
        texts.append("".join(alphabet[i] for i in kept[kept != 0].tolist()))
    return texts


class Runner:
    def __init__(self, config):
        self.config = config
        cuda = config.use_cuda and torch.cuda.is_available()
        self.device = torch.device("cuda", torch.cuda.current_device()) if cuda else torch.device("cpu")
        self.data = Words(config)
        sampler = BatchSampler(RandomSampler(self.data), config.batch, drop_last=False)
        self.loader = DataLoader(self.data, batch_sampler=sampler, collate_fn=collate, pin_memory=cuda)
        self.model = Recogniser(config).to(self.device)
        self.loss = nn.CTCLoss(blank=0, zero_infinity=True).to(self.device)
        groups = [
            {"params": self.model.conv.parameters(), "lr": 1e-2},
            {"params": [*self.model.rnn.parameters(), *self.model.head.parameters()]},
        ]
        self.optimizer = torch.optim.SGD(groups, lr=5e-2, momentum=0.9)

    def epoch(self):
        self.model.train()
        total = 0.0
        for features, lengths, targets, sizes, _ in self.loader:
            features, targets = features.to(self.device, non_blocking=True), targets.to(self.device)
            scores, lengths = self.model(features, lengths)
            loss = self.loss(scores.transpose(0, 1), targets, lengths, sizes)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(features)
        return total / len(self.data)

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        hits = 0
        for features, lengths, *_, words in self.loader:
            scores, lengths = self.model(features.to(self.device), lengths)
            guesses = greedy(scores.cpu(), lengths, self.config.alphabet)
            hits += sum(a == b for a, b in zip(guesses, words))
        return hits / len(self.data)


def main():
    config = Config(json.loads(CONFIG))
    logging.basicConfig(level=logging.INFO)
    torch.manual_seed(3)
    runner = Runner(config)
    for epoch in range(config.epochs):
        log.info("%d %.3f %.2f", epoch, runner.epoch(), runner.evaluate())


if __name__ == "__main__":
    main()
