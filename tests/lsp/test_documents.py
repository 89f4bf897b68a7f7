"""Changes of a text, against a model that works on the encoded text itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from device_lens.lsp.documents import Documents, changed_text
from device_lens.syntax.position import Encoding, LineIndex

PIECES = st.sampled_from(
    ["a", "é", "🙂", "\u2028", "\x0c", "\x85", "\n", "\r\n", "\r", " ", "x = 1"]
)
TEXTS = st.lists(PIECES, max_size=20).map("".join)
ENCODINGS: st.SearchStrategy[Encoding] = st.sampled_from(["utf-8", "utf-16", "utf-32"])


def position_of(text: str, offset: int, encoding: Encoding) -> types.Position:
    """The position of an offset, counted by encoding the line up to it."""
    before = text[:offset]
    if before.endswith("\r") and text[offset : offset + 1] == "\n":
        before = before[:-1]
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    codec = encoding if encoding == "utf-8" else f"{encoding}-le"
    return types.Position(len(lines) - 1, len(lines[-1].encode(codec)) // width)


@given(TEXTS, TEXTS, ENCODINGS, st.data())
def test_a_change_replaces_what_the_client_means(
    text: str, new: str, encoding: Encoding, data: st.DataObject
) -> None:
    def place() -> int:
        offset = data.draw(st.integers(0, len(text)))
        inside = text[offset - 1 : offset] == "\r" and text[offset : offset + 1] == "\n"
        return offset - 1 if inside else offset

    start, end = sorted((place(), place()))
    where = types.Range(position_of(text, start, encoding), position_of(text, end, encoding))
    change = types.TextDocumentContentChangePartial(where, new)
    assert changed_text(LineIndex(text), change, encoding) == text[:start] + new + text[end:]


@given(TEXTS, st.integers(0, 30), st.integers(0, 30), ENCODINGS)
def test_any_position_is_somewhere_in_the_text(
    text: str, line: int, column: int, encoding: Encoding
) -> None:
    at = types.Position(line, column)
    change = types.TextDocumentContentChangePartial(types.Range(at, at), "|")
    assert changed_text(LineIndex(text), change, encoding).replace("|", "", 1) == text


def test_a_view_stays_as_it_was() -> None:
    documents = Documents()
    documents.open(types.TextDocumentItem("file:///a.py", "python", 1, "x"))
    view = documents.view("file:///a.py")
    assert view is not None
    assert documents.view("file:///a.py") is view
    identifier = types.VersionedTextDocumentIdentifier(2, "file:///a.py")
    documents.change(identifier, [types.TextDocumentContentChangeWholeDocument("y")])
    changed = documents.view("file:///a.py")
    assert changed is not None
    assert changed is not view
    assert [each.lines.text for each in (*view.documents, *changed.documents) if each] == ["x", "y"]
    documents.close("file:///a.py")
    assert documents.view("file:///a.py") is None
    assert list(documents.views()) == []
