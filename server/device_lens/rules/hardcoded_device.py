"""An accelerator named in the code with nothing that asks whether it exists.

## What it does
Flags `"cuda"`, `.cuda()`, `"mps"` and the like where no availability check guards them.

## Why is this bad?
The line raises on a machine without that accelerator, and fixes the program to one of several.

## Example
```python
device = "cuda"
```

## Use instead
```python
device = "cuda" if torch.cuda.is_available() else "cpu"
```

## Known limits
A hint, since a program for one machine may well name its device. Silent where a check or an early
return stands on the way, and in tests that are skipped without an accelerator.

## Fix safety
Unsafe: the program then also runs, slowly, where it would have failed at once.
"""

from __future__ import annotations

from device_lens.fixes.availability import fall_back
from device_lens.interpreter.rarer_facts import HardcodedDevice
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import quoted

RULE = Rule("hardcoded-device", Severity.HINT, __doc__)


@RULE.reads(HardcodedDevice)
def check(fact: HardcodedDevice, context: Context) -> Finding | None:
    named = quoted(f".{fact.literal}()" if fact.form == "method" else fact.literal)
    message = (
        f"{named} is named here and nothing asks whether it is available: the program raises on a "
        f"machine without it."
    )
    place = context.place(fact.site)
    return context.finding(RULE, fact.site, message, place.text, fixes=lambda: [fall_back(place)])
