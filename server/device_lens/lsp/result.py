"""What an analysis found out about one version of a file: all that requests read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from device_lens.lsp.documents import View
from device_lens.lsp.settings import Settings

if TYPE_CHECKING:
    from device_lens.ide.costs import Costs
    from device_lens.ide.places import Lookup
    from device_lens.interpreter.facts import FileFacts
    from device_lens.project.configuration import Configuration
    from device_lens.rules.finding import Finding
    from device_lens.syntax.source import SourceFile


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """Facts and findings of a view. `all_facts` are those of the files analysed with it, and
    `sources` finds the text of any of them."""

    view: View
    settings: Settings
    source: SourceFile
    facts: FileFacts
    all_facts: Mapping[str, FileFacts]
    findings: tuple[Finding, ...]
    configuration: Configuration
    costs: Costs
    sources: Lookup
    seconds: float
    limits: tuple[str, ...] = field(default=())
    left_out: tuple[str, ...] = field(default=())
    """What is not looked at so that nobody has to wait, in sentences."""
    is_glance: bool = False
    """Whether this is what the file tells by itself, until what it imports has been run."""
