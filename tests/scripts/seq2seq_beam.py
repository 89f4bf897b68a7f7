"""Sequence to sequence: vocabulary, packed sequences, attention, teacher forcing, beam search."""

import heapq
import random
import re
from collections import Counter

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
PAD, SOS, EOS, UNK = range(4)
PAIRS = [
    ("I am cold.", "j ai froid ."),
    ("You are here!", "tu es ici !"),
    ("We are late.", "nous sommes en retard ."),
    ("I am late.", "je suis en retard ."),
]


def tokenize(text):
    return re.sub(r"([.!?])", r" \1", text.lower()).split()


class Vocab:
    def __init__(self, sentences):
        counts = Counter(word for s in sentences for word in tokenize(s))
        self.words = ["<pad>", "<sos>", "<eos>", "<unk>"] + sorted(counts)
        self.index = {word: i for i, word in enumerate(self.words)}

    def __len__(self):
        return len(self.words)

    def encode(self, text):
        return torch.tensor([self.index.get(w, UNK) for w in tokenize(text)] + [EOS])

    def decode(self, ids):
        return " ".join(self.words[int(i)] for i in ids if int(i) not in (PAD, SOS, EOS))


class Encoder(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hidden, padding_idx=PAD)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, hidden)

    def forward(self, src, lengths):
        packed = pack_padded_sequence(
            self.embedding(src), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        outputs, hidden = self.rnn(packed)
        outputs, _ = pad_packed_sequence(outputs, batch_first=True)
        hidden = torch.tanh(self.fc(torch.cat((hidden[-2], hidden[-1]), dim=1)))
        return outputs, hidden


class Attention(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.attn = nn.Linear(3 * hidden, hidden)
        self.v = nn.Parameter(torch.rand(hidden))

    def forward(self, hidden, outputs, mask):
        length = outputs.size(1)
        repeated = hidden.unsqueeze(1).repeat(1, length, 1)
        energy = torch.tanh(self.attn(torch.cat((repeated, outputs), dim=2)))
        scores = energy @ self.v
        return F.softmax(scores.masked_fill(mask == 0, -1e9), dim=1)


class Decoder(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.vocab = vocab
        self.embedding = nn.Embedding(vocab, hidden)
        self.attention = Attention(hidden)
        self.cell = nn.GRUCell(3 * hidden, hidden)
        self.out = nn.Linear(hidden, vocab)
        self.dropout = nn.Dropout(0.1)

    def forward(self, token, hidden, outputs, mask):
        embedded = self.dropout(self.embedding(token))
        weights = self.attention(hidden, outputs, mask)
        context = torch.bmm(weights.unsqueeze(1), outputs).squeeze(1)
        hidden = self.cell(torch.cat((embedded, context), dim=1), hidden)
        return self.out(hidden), hidden, weights


class Seq2Seq(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def forward(self, src, lengths, trg, teacher_forcing=0.5):
        batch, steps = trg.shape
        outputs = torch.zeros(steps, batch, self.decoder.vocab, device=src.device)
        memory, hidden = self.encoder(src, lengths)
        mask = src != PAD
        token = torch.full((batch,), SOS, dtype=torch.long, device=src.device)
        for t in range(steps):
            logits, hidden, _ = self.decoder(token, hidden, memory, mask)
            outputs[t] = logits
            teacher = random.random() < teacher_forcing
            token = trg[:, t] if teacher else logits.argmax(1)
        return outputs

    @torch.no_grad()
    def beam(self, src, lengths, width=2, limit=6):
        memory, hidden = self.encoder(src, lengths)
        mask = src != PAD
        beams = [(0.0, [SOS], hidden)]
        finished = []
        for _ in range(limit):
            candidates = []
            for score, tokens, state in beams:
                if tokens[-1] == EOS:
                    finished.append((score, tokens))
                    continue
                last = torch.tensor([tokens[-1]], device=src.device)
                logits, new_state, _ = self.decoder(last, state, memory, mask)
                log_probs = F.log_softmax(logits, dim=-1)
                values, indices = log_probs.topk(width)
                for value, idx in zip(values[0], indices[0]):
                    candidates.append((score + value.item(), tokens + [idx.item()], new_state))
            beams = heapq.nlargest(width, candidates, key=lambda c: c[0])
            if not beams:
                break
        pool = finished or [(s, t) for s, t, _ in beams]
        return max(pool, key=lambda c: c[0] / len(c[1]))[1]


def collate(pairs, source, target):
    src = [source.encode(a) for a, _ in pairs]
    trg = [target.encode(b) for _, b in pairs]
    lengths = torch.tensor([len(s) for s in src])
    return pad_sequence(src, batch_first=True), lengths, pad_sequence(trg, batch_first=True)


def train():
    source, target = Vocab(a for a, _ in PAIRS), Vocab(b for _, b in PAIRS)
    model = Seq2Seq(Encoder(len(source), 16), Decoder(len(target), 16)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    model.train()
    for step in range(4):
        src, lengths, trg = collate(PAIRS, source, target)
        src, trg = src.to(device), trg.to(device)
        optimizer.zero_grad()
        output = model(src, lengths, trg)
        loss = criterion(output.permute(1, 2, 0), trg)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        print(step, loss.item())
    model.eval()
    for text, expected in PAIRS[:2]:
        ids = source.encode(text).unsqueeze(0).to(device)
        found = model.beam(ids, torch.tensor([ids.size(1)]))
        print(expected, "|", target.decode(found))


if __name__ == "__main__":
    train()
