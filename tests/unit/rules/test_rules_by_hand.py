"""Rules on facts made by hand: what each says, and the text after its first fix."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from device_lens.domain.device import CPU, Device
from device_lens.domain.trail import Site, Trail
from device_lens.fixes.edit import apply_edits
from device_lens.interpreter.facts import FileFacts, Loop
from device_lens.interpreter.rarer_facts import (
    CudaContext,
    DdpBypass,
    Float64OnMps,
    GeneratorConflict,
    HardcodedDevice,
    Load,
    OptimizerConflict,
    PinnedHalf,
    RetainedGraph,
    RoundTrip,
    UnsynchronizedRead,
    VisibleDevices,
)
from device_lens.rules.finding import Finding
from device_lens.rules.registry import findings
from device_lens.syntax.source import SourceFile, parse

CUDA = Device("cuda")


@dataclass(frozen=True)
class Code:
    """A program in which sites are found by their text."""

    source: SourceFile

    def site(self, text: str, kind: type[ast.AST] = ast.expr) -> Site:
        for chunk in self.source.chunks:
            for statement in chunk.body:
                for node in ast.walk(statement):
                    if not isinstance(node, kind) or not hasattr(node, "lineno"):
                        continue
                    if self.source.text_of(self.source.range(chunk, node)).startswith(text):
                        return Site(self.source.path, chunk, node)
        raise AssertionError(text)

    def loop(self) -> Loop:
        return Loop(self.site("for", ast.For), None, True)


def _judged(text: str, make: Callable[[Code], Any]) -> Finding:
    source = parse("a.py", text)
    facts = FileFacts("a.py", source, others=[make(Code(source))])
    (found,) = findings(facts, {"a.py": facts})
    return found


@dataclass(frozen=True)
class Case:
    rule: str
    before: str
    make: Callable[[Code], Any]
    after: str | None
    says: tuple[str, ...]


CASES = [
    Case(
        "generator-device",
        "g = torch.Generator(device=d)\nloader = DataLoader(ds, generator=g)\n",
        lambda c: GeneratorConflict(
            c.site("DataLoader("),
            "DataLoader",
            c.site("g", ast.Name),
            CUDA,
            CPU,
            Trail("created", "is created on `cuda` by `torch.Generator`", c.site("torch.Gen")),
            "torch.cuda.is_available()",
        ),
        "g = torch.Generator()\nloader = DataLoader(ds, generator=g)\n",
        ("`g` is on cuda", "line 1", "on the CPU", "when CUDA is available"),
    ),
    Case(
        "optimizer-before-move",
        "opt = Adagrad(net.parameters())\nnet.cuda()\nopt.step()\n",
        lambda c: OptimizerConflict(
            c.site("Adagrad("), "eager-state", c.site("opt", ast.Name), c.site("net.cuda()")
        ),
        "net.cuda()\nopt = Adagrad(net.parameters())\nopt.step()\n",
        ("`opt`", "line 2", "`step()` raises"),
    ),
    Case(
        "load-map-location",
        "def f(path, rank):\n    return torch.load(path)\n",
        lambda c: Load(c.site("torch.load("), "rank", 'f"cuda:{rank}"'),
        'def f(path, rank):\n    return torch.load(path, map_location=f"cuda:{rank}")\n',
        ("`map_location`", "GPU 0"),
    ),
    Case(
        "visible-devices",
        'os.environ["CUDA_VISIBLE_DEVICES"] = "1"\nd = torch.device("cuda:1")\n',
        lambda c: VisibleDevices(
            c.site("torch.device("), "ordinal", c.site("os.env", ast.Assign), ("1",), 1
        ),
        'os.environ["CUDA_VISIBLE_DEVICES"] = "1"\nd = torch.device("cuda:0")\n',
        ("line 1", "`cuda:0` is the only device", "`cuda:1`", "invalid device ordinal"),
    ),
    Case(
        "visible-devices",
        'x = a.cuda()\nos.environ["CUDA_VISIBLE_DEVICES"] = "1"\n',
        lambda c: VisibleDevices(
            c.site("os.env", ast.Assign),
            "too-late",
            c.site("os.env", ast.Assign),
            ("1",),
            initialised_at=c.site("a.cuda()"),
        ),
        'os.environ["CUDA_VISIBLE_DEVICES"] = "1"\nx = a.cuda()\n',
        ("after CUDA was initialised", "line 1", "no effect"),
    ),
    Case(
        "cuda-device-context",
        "import torch\nwith torch.cuda.device(1):\n    h = torch.zeros(3)\n",
        lambda c: CudaContext(
            c.site("torch.zeros("),
            "factories",
            c.site("torch.cuda.device("),
            "1",
            (c.site("torch.zeros("),),
        ),
        'import torch\nwith torch.device("cuda:1"):\n    h = torch.zeros(3)\n',
        ("`torch.cuda.device(1)`", "made on the CPU"),
    ),
    Case(
        "cuda-device-context",
        "import torch\nx = x.to(torch.cuda.device(i))\n",
        lambda c: CudaContext(c.site("x.to("), "argument", c.site("torch.cuda.device("), "i"),
        'import torch\nx = x.to(torch.device("cuda", i))\n',
        ("context manager", "TypeError"),
    ),
    Case(
        "ddp-bypass-forward",
        "model = DDP(net)\nmodel.set_grid(4)\n",
        lambda c: DdpBypass(c.site("model.set_grid(4)"), "attribute", "set_grid", c.site("DDP(")),
        "model = DDP(net)\nmodel.module.set_grid(4)\n",
        ("`set_grid`", "AttributeError"),
    ),
    Case(
        "ddp-bypass-forward",
        "model = DDP(net)\nraw = model.module\nloss = raw(x)\n",
        lambda c: DdpBypass(c.site("raw(x)"), "module-call", "raw(x)", c.site("DDP(")),
        "model = DDP(net)\nraw = model.module\nloss = model(x)\n",
        ("`raw(x)`", "not synchronised"),
    ),
    Case(
        "mps-float64",
        "s = torch.arange(3, dtype=torch.float64, device=p.device)\n",
        lambda c: Float64OnMps(
            c.site("torch.arange("), "s", None, "torch.backends.mps.is_available()"
        ),
        "s = torch.arange(3, dtype=torch.float32, device=p.device)\n",
        ("`s`", "MPS", "when MPS is available"),
    ),
    Case(
        "unsafe-non-blocking",
        "self.host.copy_(x, non_blocking=True)\ny = self.host.sum()\n",
        lambda c: UnsynchronizedRead(c.site("self.host.copy_"), c.site("self.host.sum()"), "copy_"),
        "self.host.copy_(x)\ny = self.host.sum()\n",
        ("line 2", "without a synchronisation"),
    ),
    Case(
        "pinned-memory",
        "loader = DataLoader(ds, pin_memory=True)\nfor x in loader:\n    x = x.to(d)\n",
        lambda c: PinnedHalf(c.site("x.to(d)"), "blocking-pinned", c.site("DataLoader(")),
        "loader = DataLoader(ds, pin_memory=True)\n"
        "for x in loader:\n    x = x.to(d, non_blocking=True)\n",
        ("pinned memory", "blocks"),
    ),
    Case(
        "pinned-memory",
        "loader = DataLoader(ds)\nfor x in loader:\n    x = x.to(d, non_blocking=True)\n",
        lambda c: PinnedHalf(c.site("x.to(d"), "pageable-non-blocking", c.site("DataLoader(")),
        "loader = DataLoader(ds, pin_memory=True)\n"
        "for x in loader:\n    x = x.to(d, non_blocking=True)\n",
        ("pageable", "blocks all the same"),
    ),
    Case(
        "pinned-memory",
        "staged = host.cuda().pin_memory()\n",
        lambda c: PinnedHalf(c.site("host.cuda().pin"), "pin-accelerator"),
        "staged = host.cuda()\n",
        ("Only tensors on the CPU", "raises"),
    ),
    Case(
        "round-trip",
        "for _ in r:\n    n = out(tok).tolist()\n    tok = torch.tensor(n, device=d)\n",
        lambda c: RoundTrip(
            c.site("out(tok).tolist()"), c.site("torch.tensor("), ".tolist()", (c.loop(),)
        ),
        "for _ in r:\n    n = out(tok).detach()\n    tok = n\n",
        ("`.tolist()`", "line 3"),
    ),
    Case(
        "retained-graph",
        "for x in xs:\n    total += loss\n",
        lambda c: RetainedGraph(
            c.site("total", ast.AugAssign), "total", c.site("loss", ast.Name), "sum"
        ),
        "for x in xs:\n    total += loss.detach()\n",
        ("`total` adds up `loss`", "stays alive"),
    ),
    Case(
        "retained-graph",
        "for x in xs:\n    bank.append(net(x))\n",
        lambda c: RetainedGraph(c.site("bank.append("), "bank", c.site("net(x)"), "collect"),
        "for x in xs:\n    bank.append(net(x).detach())\n",
        ("`bank` collects `net(x)`",),
    ),
    Case(
        "hardcoded-device",
        'import torch\ndef f(n, device="cuda"):\n    return n\n',
        lambda c: HardcodedDevice(c.site('"cuda"'), "cuda", "default"),
        'import torch\ndef f(n, device="cuda" if torch.cuda.is_available() else "cpu"):\n'
        "    return n\n",
        ("`cuda`", "raises on a machine without it"),
    ),
    Case(
        "hardcoded-device",
        "import torch\nnet.cuda()\n",
        lambda c: HardcodedDevice(c.site("net.cuda()"), "cuda", "method"),
        'import torch\nnet.to("cuda" if torch.cuda.is_available() else "cpu")\n',
        ("`.cuda()`",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{each.rule}: {each.says[0]}" for each in CASES])
def test_judged(case: Case) -> None:
    found = _judged(case.before, case.make)
    assert found.rule == case.rule
    for part in case.says:
        assert part in found.message
    after = apply_edits(case.before, found.fixes[0].edits) if found.fixes else None
    assert after == case.after


def test_a_load_without_evidence_is_silent() -> None:
    source = parse("a.py", "x = torch.load(p)\n")
    facts = FileFacts("a.py", source)
    facts.others.append(Load(Code(source).site("torch.load("), None))
    assert findings(facts, {"a.py": facts}) == []
