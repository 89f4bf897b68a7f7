"""Message passing on random graphs: index_add, scatter, segment softmax, collated graph batches."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Graph:
    x: Tensor
    edge_index: Tensor
    y: Tensor
    batch: Tensor | None = None

    @property
    def num_nodes(self) -> int:
        return self.x.size(0)

    def to(self, device, non_blocking: bool = False) -> Graph:
        moved = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, Tensor):
                value = value.to(device, non_blocking=non_blocking)
            moved[f.name] = value
        return replace(self, **moved)

    @classmethod
    def collate(cls, graphs: list[Graph]) -> Graph:
        offset = 0
        xs, edges, ys, batch = [], [], [], []
        for i, g in enumerate(graphs):
            xs.append(g.x)
            edges.append(g.edge_index + offset)
            ys.append(g.y)
            batch.append(torch.full((g.num_nodes,), i, dtype=torch.long))
            offset += g.num_nodes
        return cls(torch.cat(xs), torch.cat(edges, dim=1), torch.stack(ys), torch.cat(batch))


class RandomGraphs(Dataset):
    def __init__(self, n: int):
        generator = torch.Generator().manual_seed(0)
        self.graphs = []
        for _ in range(n):
            nodes = int(torch.randint(3, 7, (1,), generator=generator))
            x = torch.randn(nodes, 4, generator=generator)
            edge_index = torch.randint(0, nodes, (2, nodes * 2), generator=generator)
            self.graphs.append(Graph(x, edge_index, (x.sum() > 0).long()))

    def __len__(self):
        return len(self.graphs)

    def __getitem__(self, i):
        return self.graphs[i]


def segment_softmax(score: Tensor, index: Tensor, n: int) -> Tensor:
    top = torch.full((n, score.size(1)), float("-inf"), device=score.device)
    top = top.scatter_reduce(0, index[:, None].expand_as(score), score, reduce="amax")
    weight = (score - top[index]).exp()
    total = torch.zeros(n, score.size(1), device=score.device).index_add_(0, index, weight)
    return weight / (total[index] + 1e-9)


class AttentionConv(nn.Module):
    def __init__(self, n_in: int, n_out: int, heads: int = 2):
        super().__init__()
        self.heads, self.n_out = heads, n_out
        self.project = nn.Linear(n_in, heads * n_out, bias=False)
        self.att = nn.Parameter(torch.empty(1, heads, 2 * n_out))
        self.bias = nn.Parameter(torch.zeros(heads * n_out))
        nn.init.xavier_uniform_(self.att)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        n = x.size(0)
        loops = torch.arange(n, device=x.device)
        edge_index = torch.cat([edge_index, torch.stack([loops, loops])], dim=1)
        source, target = edge_index
        h = self.project(x).view(n, self.heads, self.n_out)
        pair = torch.cat([h[source], h[target]], dim=-1)
        score = nn.functional.leaky_relu((pair * self.att).sum(-1), 0.2)
        alpha = segment_softmax(score, target, n)
        out = torch.zeros_like(h)
        out.index_add_(0, target, h[source] * alpha.unsqueeze(-1))
        return out.flatten(1) + self.bias


class GraphNet(nn.Module):
    def __init__(self, n_in: int, hidden: int, n_classes: int):
        super().__init__()
        self.convs = nn.ModuleList([AttentionConv(n_in, hidden), AttentionConv(2 * hidden, hidden)])
        self.norms = nn.ModuleList(nn.LayerNorm(2 * hidden) for _ in self.convs)
        self.head = nn.Linear(2 * hidden, n_classes)

    def forward(self, g: Graph) -> Tensor:
        x = g.x
        for conv, norm in zip(self.convs, self.norms):
            x = norm(conv(x, g.edge_index)).relu()
        count = int(g.batch.max()) + 1
        pooled = x.new_zeros(count, x.size(1)).scatter_add_(
            0, g.batch.view(-1, 1).expand_as(x), x
        )
        sizes = torch.bincount(g.batch, minlength=count).clamp(min=1)
        return self.head(pooled / sizes.unsqueeze(1))


def run(epochs: int = 2) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = DataLoader(RandomGraphs(12), batch_size=4, collate_fn=Graph.collate)
    model = GraphNet(4, 8, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(epochs):
        correct = torch.zeros((), dtype=torch.long, device=device)
        for graphs in loader:
            graphs = graphs.to(device)
            logits = model(graphs)
            loss = nn.functional.cross_entropy(logits, graphs.y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            correct += (logits.argmax(-1) == graphs.y).sum()
        print(f"accuracy {correct.item() / 12:.2f} loss {loss:.3f}")


if __name__ == "__main__":
    run()
