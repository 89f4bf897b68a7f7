"""nn.Transformer with masks, label smoothing, a warm-up schedule, bucketed sampler."""

import math
import random

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import BatchSampler, DataLoader, Dataset, Sampler

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
PAD, BOS, EOS = 0, 1, 2


class Reverse(Dataset):
    def __init__(self, n: int, seed: int = 0):
        rng = random.Random(seed)
        self.rows = [[rng.randint(3, 12) for _ in range(rng.randint(2, 6))] for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = self.rows[index]
        src = torch.tensor([BOS, *row, EOS])
        tgt = torch.tensor([BOS, *reversed(row), EOS])
        return src, tgt


class ByLength(Sampler):
    def __init__(self, dataset):
        self.order = sorted(range(len(dataset)), key=lambda i: len(dataset.rows[i]))

    def __iter__(self):
        return iter(self.order)

    def __len__(self):
        return len(self.order)


def collate_fn(batch):
    src_batch, tgt_batch = [], []
    for src_sample, tgt_sample in batch:
        src_batch.append(src_sample)
        tgt_batch.append(tgt_sample)
    src_batch = nn.utils.rnn.pad_sequence(src_batch, padding_value=PAD)
    tgt_batch = nn.utils.rnn.pad_sequence(tgt_batch, padding_value=PAD)
    return src_batch, tgt_batch


class PositionalEncoding(nn.Module):
    def __init__(self, emb_size: int, dropout: float, maxlen: int = 50):
        super().__init__()
        den = torch.exp(-torch.arange(0, emb_size, 2) * math.log(10000) / emb_size)
        pos = torch.arange(0, maxlen).reshape(maxlen, 1)
        pos_embedding = torch.zeros((maxlen, emb_size))
        pos_embedding[:, 0::2] = torch.sin(pos * den)
        pos_embedding[:, 1::2] = torch.cos(pos * den)
        pos_embedding = pos_embedding.unsqueeze(-2)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pos_embedding", pos_embedding)

    def forward(self, token_embedding: Tensor):
        return self.dropout(token_embedding + self.pos_embedding[: token_embedding.size(0), :])


class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size: int, emb_size):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb_size)
        self.emb_size = emb_size

    def forward(self, tokens: Tensor):
        return self.embedding(tokens.long()) * math.sqrt(self.emb_size)


class Translator(nn.Module):
    def __init__(self, vocab: int = 13, emb_size: int = 16, nhead: int = 2):
        super().__init__()
        self.transformer = nn.Transformer(
            d_model=emb_size,
            nhead=nhead,
            num_encoder_layers=1,
            num_decoder_layers=1,
            dim_feedforward=32,
            dropout=0.1,
        )
        self.generator = nn.Linear(emb_size, vocab)
        self.tok_emb = TokenEmbedding(vocab, emb_size)
        self.positional_encoding = PositionalEncoding(emb_size, dropout=0.1)

    def forward(self, src, trg, src_mask, tgt_mask, src_pad, tgt_pad, memory_pad):
        src_emb = self.positional_encoding(self.tok_emb(src))
        tgt_emb = self.positional_encoding(self.tok_emb(trg))
        outs = self.transformer(
            src_emb, tgt_emb, src_mask, tgt_mask, None, src_pad, tgt_pad, memory_pad
        )
        return self.generator(outs)

    def encode(self, src: Tensor, src_mask: Tensor):
        return self.transformer.encoder(self.positional_encoding(self.tok_emb(src)), src_mask)

    def decode(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor):
        return self.transformer.decoder(
            self.positional_encoding(self.tok_emb(tgt)), memory, tgt_mask
        )


def causal_mask(sz):
    mask = (torch.triu(torch.ones((sz, sz), device=DEVICE)) == 1).transpose(0, 1)
    return mask.float().masked_fill(mask == 0, float("-inf")).masked_fill(mask == 1, 0.0)


def create_mask(src, tgt):
    src_len, tgt_len = src.shape[0], tgt.shape[0]
    tgt_mask = causal_mask(tgt_len)
    src_mask = torch.zeros((src_len, src_len), device=DEVICE).type(torch.bool)
    return src_mask, tgt_mask, (src == PAD).transpose(0, 1), (tgt == PAD).transpose(0, 1)


def greedy_decode(model, src, src_mask, max_len):
    src = src.to(DEVICE)
    src_mask = src_mask.to(DEVICE)
    memory = model.encode(src, src_mask)
    ys = torch.ones(1, 1).fill_(BOS).type(torch.long).to(DEVICE)
    for _ in range(max_len - 1):
        memory = memory.to(DEVICE)
        tgt_mask = (causal_mask(ys.size(0)).type(torch.bool)).to(DEVICE)
        out = model.decode(ys, memory, tgt_mask).transpose(0, 1)
        prob = model.generator(out[:, -1])
        _, next_word = torch.max(prob, dim=1)
        next_word = next_word.item()
        ys = torch.cat([ys, torch.ones(1, 1).type_as(src.data).fill_(next_word)], dim=0)
        if next_word == EOS:
            break
    return ys


def train_epoch(model, loader, optimizer, scheduler, loss_fn):
    model.train()
    losses = 0
    for src, tgt in loader:
        src = src.to(DEVICE)
        tgt = tgt.to(DEVICE)
        tgt_input = tgt[:-1, :]
        src_mask, tgt_mask, src_pad, tgt_pad = create_mask(src, tgt_input)
        logits = model(src, tgt_input, src_mask, tgt_mask, src_pad, tgt_pad, src_pad)
        optimizer.zero_grad()
        tgt_out = tgt[1:, :]
        loss = loss_fn(logits.reshape(-1, logits.shape[-1]), tgt_out.reshape(-1))
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses += loss.item()
    return losses / len(list(loader))


torch.manual_seed(0)
data = Reverse(12)
sampler = BatchSampler(ByLength(data), batch_size=4, drop_last=False)
loader = DataLoader(data, batch_sampler=sampler, collate_fn=collate_fn)
translator = Translator()
for p in translator.parameters():
    if p.dim() > 1:
        nn.init.xavier_uniform_(p)
translator = translator.to(DEVICE)
loss_fn = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.1)
optimizer = torch.optim.Adam(translator.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
scheduler = LambdaLR(optimizer, lambda s: 16**-0.5 * min((s + 1) ** -0.5, (s + 1) * 20**-1.5))
print(train_epoch(translator, loader, optimizer, scheduler, loss_fn))
translator.eval()
sentence = data[0][0].view(-1, 1)
tokens = greedy_decode(translator, sentence, torch.zeros(len(sentence), len(sentence)).bool(), 6)
print(tokens.flatten().tolist())
