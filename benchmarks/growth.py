"""How the cost of an edit grows with the file and with the workspace around it.

    python benchmarks/growth.py [--lines N …] [--files N …] [--edits N] [--seed N] [--svg FILE]

Writes programs of growing size (modules of layers and functions, drawn with a seed), opens one file
in the server and types statements inside a function in its middle. First the file grows, with
nothing around it; then a file of 1,000 lines stays and the workspace grows: modules that import
one another, every twentieth a script that uses the file. CPU time is that of the whole process
tree, from /proc: once over all letters, and once for what opening the file took. Linux only.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from xml.sax.saxutils import escape

from latency import Client, cpu_of, settle, typed

LAYER = '''\
class {name}(nn.Module):
    """{count} of its kind."""

    def __init__(self, width: int = {width}, dropout: float = 0.1) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.widen = nn.Linear(width, {factor} * width)
        self.narrow = nn.Linear({factor} * width, width)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("scale", torch.ones(width))

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        hidden = functional.gelu(self.widen(self.norm(x)))
        if mask is not None:
            hidden = hidden * mask.to(hidden.device).unsqueeze(-1)
        return x + self.scale * self.dropout(self.narrow(hidden))


'''
FUNCTION = """\
def {name}(batch: list[torch.Tensor], device: torch.device) -> torch.Tensor:
    total = torch.zeros({width}, device=device)
    count = 0
    for each in batch:
        each = each.to(device)
        if each.ndim > {factor}:
            each = each.flatten({factor})
        total = total + each.sum(0)
        count += len(each)
    return total / max(count, 1)


"""
HEAD = "import torch\nfrom torch import nn\nfrom torch.nn import functional\n"
SCRIPT = """\
from edited import Layer0

def main() -> None:
    model = Layer0().to("cuda")
    print(model(torch.ones(2, 64, device="cuda")).mean().item())

if __name__ == "__main__":
    main()
"""
WORKSPACE_LINES = 1_000
MODULE_LINES = 150


@dataclass(frozen=True)
class Point:
    """What one size costs, in milliseconds of CPU time."""

    size: int
    edit: float
    opened: float


def module(random: Random, lines: int, imports: Sequence[str] = ()) -> str:
    """A module of about so many lines."""
    text = HEAD + "".join(f"import {each}\n" for each in imports) + "\n\n"
    count = 0
    while text.count("\n") < lines:
        layer = random.random() < 0.6 or not count
        values = {"count": count, "width": random.choice([64, 128]), "factor": random.randint(2, 4)}
        name = f"Layer{count}" if layer else f"gather_{count}"
        text += (LAYER if layer else FUNCTION).format(name=name, **values)
        count += 1
    return text


def workspace(folder: Path, random: Random, lines: int, files: int) -> Path:
    """Writes a workspace; gives the file that is to be edited."""
    edited = folder / "edited.py"
    edited.write_text(module(random, lines), encoding="utf-8")
    for number in range(files):
        names = [f"part_{random.randrange(number)}" for _ in range(min(number, 3))]
        text = module(random, MODULE_LINES, sorted(set(names)))
        (folder / f"part_{number}.py").write_text(
            text + (SCRIPT if number % 20 == 0 else ""), encoding="utf-8"
        )
    return edited


def measure(lines: int, files: int, edits: int, seed: int) -> tuple[float, float]:
    """The CPU milliseconds of an edit, and of opening the file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        path = workspace(folder, Random(f"{seed}:{lines}:{files}"), lines, files)
        client = Client([sys.executable, "-m", "device_lens", "serve"], folder)
        try:
            client.start(folder)
            settle(client)
            before = cpu_of(client.process.pid)
            text = path.read_text(encoding="utf-8")
            client.open(path, text)
            client.diagnostics(1)
            settle(client)
            opened = cpu_of(client.process.pid) - before
            line = middle(text.split("\n"))
            client.change(2, (line, 0), (line, 0), "        \n")
            client.diagnostics(2)
            settle(client)
            before = cpu_of(client.process.pid)
            keys = typed(line, " " * 8)
            for version in range(3, edits + 3):
                place, letter = next(keys)
                client.change(version, place, place, letter)
                client.diagnostics(version)
            return (cpu_of(client.process.pid) - before) / edits, opened
        finally:
            client.close()


def middle(lines: Sequence[str]) -> int:
    """A line of a `forward` in the middle of a module, before which something can be typed."""
    starts = [at for at, line in enumerate(lines) if line.startswith("    def forward")]
    return starts[len(starts) // 2] + 1


def series(sizes: Sequence[int], growing: str, rounds: int, edits: int, seed: int) -> list[Point]:
    """The costs by size, each the median of some rounds; prints them."""
    print(f"\n| {growing} | CPU per edit, ms | CPU of opening, ms |\n| --: | --: | --: |")
    found = []
    for size in sizes:
        lines, files = (size, 0) if growing == "lines of the file" else (WORKSPACE_LINES, size)
        runs = [measure(lines, files, edits, seed + each) for each in range(rounds)]
        edit, opened = (statistics.median(values) for values in zip(*runs, strict=True))
        found.append(Point(size, edit, opened))
        print(f"| {size:,} | {edit:.1f} | {opened:.0f} |", flush=True)
    return found


def svg(panels: Sequence[tuple[str, Sequence[Point]]]) -> str:
    """Two small plots side by side: CPU per edit by size, both axes from zero."""
    width, height, left, bottom = 360, 240, 52, 44
    most = max(point.edit for _, points in panels for point in points) * 1.2
    parts = []
    for number, (title, points) in enumerate(panels):
        x0, y0 = number * width + left, height - bottom
        wide, high = width - left - 24, height - bottom - 28
        largest = points[-1].size
        at = [(x0 + each.size / largest * wide, y0 - each.edit / most * high) for each in points]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        parts += [
            f'<path d="M{x0},{y0 - high}V{y0}H{x0 + wide}" class="axis"/>',
            f'<polyline points="{line}" class="line"/>',
            *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in at),
            f'<text x="{x0 + wide / 2}" y="{height - 8}">{escape(title)}</text>',
            f'<text x="{x0 + wide}" y="{y0 + 16}">{largest:,}</text>',
            f'<text x="{x0}" y="{y0 + 16}">0</text>',
            f'<text x="{x0 - 8}" y="{y0 - high + 4}" class="end">{most:.0f} ms</text>',
            f'<text x="{x0 - 8}" y="{y0 + 4}" class="end">0</text>',
        ]
    style = (
        "text{font:12px sans-serif;fill:#777;text-anchor:middle}.end{text-anchor:end}"
        ".axis{fill:none;stroke:#999}.line{fill:none;stroke:#3b82f6;stroke-width:2}circle{fill:#3b82f6}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {len(panels) * width} {height}" '
        f'role="img" aria-label="CPU time of an edit by size"><style>{style}</style>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lines", type=int, nargs="+", default=[250, 500, 1000, 2000, 4000, 8000])
    parser.add_argument("--files", type=int, nargs="+", default=[0, 50, 100, 200, 400, 800])
    parser.add_argument("--edits", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--svg", type=Path, help="where to draw it")
    arguments = parser.parse_args()
    panels = []
    for growing, sizes in (
        ("lines of the file", arguments.lines),
        (f"files around one of {WORKSPACE_LINES:,} lines", arguments.files),
    ):
        found = series(sizes, growing, arguments.rounds, arguments.edits, arguments.seed)
        panels.append((growing, found))
    if arguments.svg is not None:
        arguments.svg.write_text(svg(panels), encoding="utf-8")


if __name__ == "__main__":
    main()
