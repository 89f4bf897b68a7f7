"""What a rule may ask besides its fact: places, texts, related locations, a device at hand."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from device_lens.domain.trail import Site, Trail
from device_lens.fixes.edit import Edit, Fix
from device_lens.fixes.place import Place
from device_lens.fixes.same_value import Program
from device_lens.fixes.transfer_call import DEVICE_WORDS
from device_lens.interpreter.facts import Conflict, Expression, FileFacts, Kind, Repeated
from device_lens.rules.at_hand import AtHand
from device_lens.rules.causes import Cause, causes_of
from device_lens.rules.finding import Finding, LazyFixes, Related, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.waits import Waits, waits_of
from device_lens.rules.wording import participle, quoted, telling_step, telling_steps

if TYPE_CHECKING:
    from device_lens.syntax.position import Position, Range
    from device_lens.syntax.source import SourceFile


class Context:
    """One file's facts, and those of the files that were analysed with it."""

    def __init__(self, facts: FileFacts, all_facts: Mapping[str, FileFacts]) -> None:
        self.facts = facts
        self.all_facts = all_facts if facts.path in all_facts else {**all_facts, facts.path: facts}
        self._at_hand: dict[str, AtHand] = {}

    @cached_property
    def causes(self) -> list[Cause]:
        """The conflicts of all files by cause; those to be reported in this file."""
        return [cause for cause in causes_of(self.all_facts) if cause.site.path == self.facts.path]

    @property
    def at_hand(self) -> AtHand:
        return self.at_hand_in(self.facts.path)

    def at_hand_in(self, path: str) -> AtHand:
        """The devices at hand in one of the files that were analysed."""
        if path not in self._at_hand:
            self._at_hand[path] = AtHand(self.all_facts[path])
        return self._at_hand[path]

    @cached_property
    def program(self) -> Program:
        """What fixes of this file ask of the program around it."""
        sources = [each.source for each in self.all_facts.values()]
        return Program(sources, self._is_tensor)

    def _is_tensor(self, node: ast.AST) -> bool:
        known = self.facts.expression_at(node)
        return known is not None and known.kind is Kind.TENSOR

    @cached_property
    def waits(self) -> Waits:
        """The reads of this file that wait for the device, and those that no longer do."""
        return waits_of(self)

    def expression(self, site: Site) -> Expression | None:
        """What is known of an expression of this file."""
        return self.facts.expression_at(site.node)

    def container_at(self, place: Place) -> str | None:
        """What a container of this file is called, where it is that each time; what else can be
        gone through by its kind."""
        known = self.facts.expression_at(place.node)
        if known is None or known.kind in (Kind.CONTAINER, Kind.TENSOR):
            return None if known is None else known.container
        return str(known.kind.value)

    def is_device(self, argument: Site) -> bool:
        """Whether what a transfer is given is a device. Of what is not known the name tells:
        `x.to(y)` takes a tensor as well, which `device=` does not."""
        known = self.expression(argument)
        if known is not None:
            return known.kind is Kind.DEVICE
        if not isinstance(argument.node, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
            return True
        return DEVICE_WORDS.search(self.text(argument)) is not None

    def consequences(self, site: Site) -> list[Conflict]:
        """The conflicts that something at this place explains."""
        return [
            conflict
            for cause in self.causes
            if cause.site.node is site.node
            for conflict in cause.conflicts
        ]

    def knows(self, site: Site) -> bool:
        """Whether the site's file was analysed, so that the place can be shown."""
        return site.path in self.all_facts

    def place(self, site: Site) -> Place:
        return Place(self.all_facts[site.path].source, site.chunk, site.node)

    def text(self, site: Site) -> str:
        return self.place(site).text

    def line(self, site: Site) -> str:
        """`line 6`, with the file or cell where it is another one."""
        place = self.place(site)
        return self._line(place.source, place.range.start)

    def _line(self, source: SourceFile, start: Position) -> str:
        cells = source.cell_map
        spot = f"line {start.line + 1}"
        if cells is not None:
            shown = cells.to_cell(start)
            if shown is not None:
                spot = f"line {shown.position.line + 1} of cell {shown.cell}"
        if source.path == self.facts.path:
            return spot
        return f"{source.path.rpartition('/')[2]}, {spot}"

    def whence(self, trail: Trail | None) -> str:
        """` (created on the CPU by torch.zeros, line 6)`, with the space before it; empty where
        nothing is known."""
        step = telling_step(trail)
        if step is None or not self.knows(step.site):
            return ""
        return f" ({participle(step.text)}, {self.line(step.site)})"

    def related(self, site: Site, message: str) -> tuple[Related, ...]:
        if not self.knows(site):
            return ()
        return (Related(site.path, self.place(site).range, message),)

    def history(self, name: str, trail: Trail | None) -> tuple[Related, ...]:
        """The steps that took a value where it is, oldest first."""
        return tuple(
            related
            for step in telling_steps(trail)
            for related in self.related(step.site, f"{quoted(name)} {step.text}")
        )

    def way_to(self, repeated: Repeated) -> tuple[Related, ...]:
        """The loop that runs a place of another function, and the calls between."""
        found = list(self.related(repeated.loop.site, "in this loop"))
        for call in repeated.calls:
            found += self.related(call, "by this call")
        return tuple(found)

    def finding(
        self,
        rule: Rule,
        site: Site,
        message: str,
        symbol: str,
        *,
        severity: Severity | None = None,
        related: Iterable[Related] = (),
        fixes: Callable[[], Iterable[Fix | None]] = tuple,
        tags: tuple[str, ...] = (),
    ) -> Finding:
        """A finding at a place of this file. `fixes` makes its fixes: those that could not be made
        are None, and those that cannot stand are left out."""
        place = self.place(site)
        return Finding(
            rule.name,
            severity or rule.severity,
            message,
            symbol,
            site.path,
            place.range,
            place.scope,
            _distinct(related, place.range),
            LazyFixes(lambda: self._ordered(fixes())),
            tags,
        )

    def _ordered(self, fixes: Iterable[Fix | None]) -> list[Fix]:
        """Those of some fixes that can stand, each once, the safe ones first."""
        by_edits: dict[frozenset[Edit], Fix] = {}
        for fix in fixes:
            if fix is not None and fix.can_stand:
                by_edits.setdefault(frozenset(fix.edits), fix)
        return sorted(self._told_apart(by_edits), key=lambda fix: not fix.safe)

    def _told_apart(self, by_edits: Mapping[frozenset[Edit], Fix]) -> Iterator[Fix]:
        """The fixes, each with a title of its own: without one that does a part of what another
        one of its title does, since the finding is about all of it."""
        whole = [
            fix
            for edits, fix in by_edits.items()
            if not any(edits < each and fix.title == by_edits[each].title for each in by_edits)
        ]
        for fix in whole:
            if sum(each.title == fix.title for each in whole) > 1:
                first = min(fix.edits, key=lambda edit: edit.range.start)
                spot = self._line(self.all_facts[first.path].source, first.range.start)
                yield replace(fix, title=f"{fix.title} ({spot})")
            else:
                yield fix


def _distinct(related: Iterable[Related], own: Range) -> tuple[Related, ...]:
    """Each place once, without the finding's own."""
    found: dict[tuple[str, Range], Related] = {}
    for each in related:
        if each.range != own:
            found.setdefault((each.path, each.range), each)
    return tuple(found.values())
