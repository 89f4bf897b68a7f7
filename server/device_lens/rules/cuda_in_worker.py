"""A worker process that uses CUDA, which the program has started before.

## What it does
Flags a `DataLoader` with `num_workers` above 0 whose items, or batches, come out of the dataset or
the `collate_fn` on a GPU, where the program itself uses CUDA before the loader is iterated over.
Flags the use of CUDA in what a `Process`, a `Pool` or a `ProcessPoolExecutor` runs, where the
program has used it before that.

## Why is this bad?
On Linux worker processes are forked, and CUDA does not work in a process that is forked once it has
been initialised: the first use raises `RuntimeError: Cannot re-initialize CUDA in forked
subprocess`. With `num_workers=0` all of it runs in one process, so that nobody sees it before
somebody asks for workers. Processes of one's own begin afresh after
`torch.multiprocessing.set_start_method("spawn")`, or by `torch.multiprocessing.spawn`.

## Example
```python
class Images(Dataset):
    def __getitem__(self, index):
        return self.images[index].to(device)

model = Net().to(device)
loader = DataLoader(Images(), batch_size=64, num_workers=4)
```

## Use instead
```python
class Images(Dataset):
    def __getitem__(self, index):
        return self.images[index]

model = Net().to(device)
loader = DataLoader(Images(), batch_size=64, num_workers=4, pin_memory=True)
for images in loader:
    images = images.to(device, non_blocking=True)
```

## Known limits
Silent where the number of workers is not known, where the program names a way to start processes
(`set_start_method`, `multiprocessing_context`) that need not be `fork`, and where nothing is seen
to start CUDA before.
Python 3.14 starts workers in another way on Linux, as others do on Windows and macOS.

## Fix safety
Unsafe: it loads in the program's own process, which runs but waits for each batch. None is offered
where the loader is given what it takes with workers alone, such as `persistent_workers`.
"""

from __future__ import annotations

import ast

from device_lens.fixes.arguments import keyword
from device_lens.fixes.edit import Fix, Safety
from device_lens.interpreter.rarer_facts import ForkedUse, WorkerBatch
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import on, when

RULE = Rule("cuda-in-worker", Severity.WARNING, __doc__)


@RULE.reads(WorkerBatch)
def check(fact: WorkerBatch, context: Context) -> Finding | None:
    if any(_names_start(context, path) for path in (fact.site.path, fact.started.path)):
        return None
    several = f"{fact.workers} worker processes" if fact.workers > 1 else "worker process"
    return context.finding(
        RULE,
        fact.site,
        f"The batches of this loader are {on(fact.device)}{context.whence(fact.trail)} in its "
        f"{several}. CUDA, which runs before ({context.line(fact.started)}), does not work in a "
        f"process that is forked later: on Linux the first batch raises{when(fact.condition)}.",
        context.text(fact.site),
        related=[
            *context.history("the batch", fact.trail),
            *context.related(fact.started, "CUDA is started here"),
        ],
        fixes=lambda: [_fix(fact, context)],
    )


_ON_STARTS = ("set_start_method", "PYTORCH_NVML_BASED_CUDA_CHECK")


@RULE.reads(ForkedUse)
def check_forked(fact: ForkedUse, context: Context) -> Finding | None:
    places = (fact.site.path, fact.forked.path, fact.started.path)
    if any(_names_start(context, path) for path in places):
        return None
    return context.finding(
        RULE,
        fact.site,
        f"This uses {fact.device} in a process that {context.line(fact.forked)} starts. CUDA, "
        f"which runs before ({context.line(fact.started)}), does not work in a process that is "
        f"forked later: on Linux this raises{when(fact.condition)}.",
        context.text(fact.site),
        related=[
            *context.related(fact.forked, "the process is started here"),
            *context.related(fact.started, "CUDA is started here"),
        ],
    )


def _names_start(context: Context, path: str) -> bool:
    """Whether a file says how processes are to be started, or asks for GPUs without CUDA."""
    facts = context.all_facts.get(path)
    return facts is not None and any(word in facts.source.text for word in _ON_STARTS)


_OF_WORKERS = ("persistent_workers", "prefetch_factor", "multiprocessing_context")
"""What a loader without workers refuses."""


def _fix(fact: WorkerBatch, context: Context) -> Fix | None:
    place = context.place(fact.site)
    if not isinstance(place.node, ast.Call):
        return None
    asked = keyword(place.node, "num_workers")
    if asked is None or any(keyword(place.node, each) for each in _OF_WORKERS):
        return None
    edit = place.at(asked.value).replace("0")
    return Fix("Load in this process: num_workers=0", Safety.UNSAFE, (edit,))
