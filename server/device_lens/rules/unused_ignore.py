"""A suppression comment that silences nothing.

## What it does
Flags `# device-lens: ignore[...]` and `ignore-file` comments, or rules named in them, that no
finding needs.

## Why is this bad?
It hides the next finding on that line, which may be a real one.

## Example
```python
x = x.to(device)  # device-lens: ignore[discarded-transfer]
```

## Use instead
```python
x = x.to(device)
```

## Known limits
Rules that the configuration turns off are not counted as unused. It cannot be silenced by the
comment that it is about.

## Fix safety
Safe: only the comment changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from device_lens.fixes.edit import Fix
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import quoted

if TYPE_CHECKING:
    from device_lens.syntax.position import Range

RULE = Rule("unused-ignore", Severity.HINT, __doc__)


def unused(path: str, where: Range, text: str, rule: str | None, fix: Fix) -> Finding:
    """The finding about a comment, or about one rule that it names."""
    what = f"silences no {quoted(rule)}" if rule is not None else "silences nothing"
    message = f"This comment {what} here."
    tags = ("unnecessary",)
    return Finding(
        RULE.name, RULE.severity, message, text, path, where, where, fixes=(fix,), tags=tags
    )
