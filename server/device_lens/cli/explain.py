"""`device-lens explain`: where every tensor and module of a file lives, and how it got there."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import dataclass

from device_lens.cli.scope import Root, open_project, root_of
from device_lens.ide.explain import explain
from device_lens.ide.locations import Printer
from device_lens.ide.project import Analysis, Unreadable
from device_lens.project.settings import Layer
from device_lens.syntax.position import Position


@dataclass(frozen=True, slots=True)
class Target:
    """A file, and a place in it from 1; in a notebook lines count in the analysed text."""

    path: str
    line: int | None = None
    column: int | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares what `device-lens explain` takes."""
    parser.add_argument("target", metavar="FILE[:LINE[:COLUMN]]")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")


def run(arguments: argparse.Namespace) -> int:
    """Prints what is known. 2 when the file cannot be read."""
    target = parse_target(arguments.target)
    try:
        analysis, limits = _analyse(target.path)
    except Unreadable as error:
        print(f"device-lens: {target.path}: {error}", file=sys.stderr)
        return 2
    line = None if target.line is None else target.line - 1
    position = None
    if line is not None and target.column is not None:
        position = Position(line, target.column - 1)
    printer = Printer(os.getcwd(), analysis.sources)
    found = explain(analysis.facts, analysis.sources, analysis.costs, printer, position, line)
    if arguments.output_format == "json":
        print(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        from device_lens.cli.output.explained import render

        sys.stdout.write(render(found, limits))
    return 0


def parse_target(text: str) -> Target:
    """`FILE`, `FILE:LINE` or `FILE:LINE:COLUMN`; a file whose name ends so is taken for itself."""
    numbers: list[int] = []
    path = text
    while len(numbers) < 2 and not os.path.exists(path):
        head, found, tail = path.rpartition(":")
        if not found or not tail.isdecimal() or int(tail) < 1:
            break
        path = head
        numbers.insert(0, int(tail))
    return Target(os.path.abspath(path), *numbers)


def _analyse(path: str) -> tuple[Analysis, tuple[str, ...]]:
    """What is known of a file, and a sentence for each bound that was hit."""
    root = Root(root_of(path), (path,), whole=False)
    project, limits = open_project(root, Layer())
    analysis = project.analyse(path)
    return analysis, (*limits, *analysis.limits, *analysis.left_out)
