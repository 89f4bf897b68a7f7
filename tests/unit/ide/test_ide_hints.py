"""Inlay hints and semantic tokens."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from ide_programs import LOOP, analysed, position_of

from device_lens.ide.inlay_hints import HintOptions, InlayHint, inlay_hints
from device_lens.ide.semantic_tokens import semantic_tokens
from device_lens.syntax.position import Position, Range

EVERYWHERE = Range(Position(0, 0), Position(1000, 0))


def hints(
    folder: Path, text: str, options: HintOptions, window: Range = EVERYWHERE
) -> list[InlayHint]:
    found = analysed(folder, text)
    return inlay_hints(found.facts, window, found.costs, options)


def test_a_transfer_shows_its_cost_behind_the_call(tmp_path: Path) -> None:
    (hint,) = hints(tmp_path, LOOP, HintOptions())
    assert hint.position == position_of(LOOP, "(device)\n", 8)
    assert hint.label.startswith("≈ ")
    assert hint.label.endswith(" ms · 38.5 MB")
    assert "| pinned |" in hint.tooltip


def test_cheap_transfers_show_nothing(tmp_path: Path) -> None:
    assert hints(tmp_path, LOOP, HintOptions(threshold_ms=1000)) == []
    small = LOOP.replace("64, 3, 224, 224", "2")
    assert hints(tmp_path, small, HintOptions()) == []


def test_only_the_window_counts(tmp_path: Path) -> None:
    window = Range(Position(0, 0), Position(4, 0))
    assert hints(tmp_path, LOOP, HintOptions(), window) == []


def test_devices_are_shown_on_request(tmp_path: Path) -> None:
    found = hints(tmp_path, LOOP, HintOptions(transfers=False, devices=True))
    shown = {(hint.position.line, hint.label) for hint in found}
    assert {(3, ": cpu"), (5, ": cuda"), (6, ": cuda")} <= shown


def test_names_are_coloured_by_device(tmp_path: Path) -> None:
    found = analysed(tmp_path, LOOP)
    tokens = semantic_tokens(found.facts)
    by_text = {
        found.facts.source.text_of(token.range): (token.type, token.modifiers) for token in tokens
    }
    assert by_text["images"] == ("variable", ("cpu",))
    assert by_text["batch"] == ("variable", ("accelerator", "conditional"))
    places = [token.range for token in tokens]
    assert places == sorted(places)
    assert all(before.end <= after.start for before, after in pairwise(places))
