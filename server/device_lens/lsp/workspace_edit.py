"""Edits as the client applies them: with the version that they are for, where it can check it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING

from lsprotocol import types

from device_lens.lsp.convert import Place, Places, to_client_range
from device_lens.lsp.result import Result
from device_lens.lsp.session import Session
from device_lens.syntax.position import LineIndex, Position, Range

if TYPE_CHECKING:
    from device_lens.fixes.edit import Edit
    from device_lens.ide.project import Content

_ANNOTATION = "changes-behaviour"


class EditMaker:
    """Makes workspace edits out of what is known of a result."""

    def __init__(self, session: Session, result: Result) -> None:
        self._client = session.client
        self._encoding = session.documents.encoding
        self._view = result.view
        self._places = Places(session.documents, result.view, result.source, result.sources)

    def from_edits(
        self, edits: Iterable[Edit], confirmation: str | None = None
    ) -> types.WorkspaceEdit | None:
        """The edits of one fix; None where one of them has no place. `confirmation` is what the
        user confirms first."""
        found: list[tuple[Place, str]] = []
        for edit in edits:
            place = self._places.find(edit.path, edit.range)
            if place is None:
                return None
            found.append((place, edit.new_text))
        return self._workspace_edit(found, confirmation)

    def from_contents(self, contents: Mapping[str, Content]) -> types.WorkspaceEdit | None:
        """The edits that give the view's documents new texts, line by line."""
        content = contents.get(self._view.path)
        if content is None:
            return None
        if isinstance(content, str):
            texts: dict[int, str] = {0: content}
        else:
            texts = {cell.number: cell.text for cell in content.cells}
        found: list[tuple[Place, str]] = []
        for number, document in enumerate(self._view.documents):
            if document is not None and number in texts:
                for where, text in _line_edits(document.lines, texts[number]):
                    client_range = to_client_range(document.lines, where, self._encoding)
                    found.append((Place(document.uri, document.version, client_range), text))
        return self._workspace_edit(found, None)

    def _workspace_edit(
        self, edits: list[tuple[Place, str]], confirmation: str | None
    ) -> types.WorkspaceEdit:
        by_document: dict[
            tuple[str, int | None], list[types.TextEdit | types.AnnotatedTextEdit]
        ] = {}
        annotated = confirmation is not None and self._client.annotations
        for place, text in edits:
            edit = (
                types.AnnotatedTextEdit(_ANNOTATION, place.range, text)
                if annotated
                else types.TextEdit(place.range, text)
            )
            by_document.setdefault((place.uri, place.version), []).append(edit)
        if not self._client.document_changes:
            plain = {uri: list(map(_plain, each)) for (uri, _), each in by_document.items()}
            return types.WorkspaceEdit(changes=plain)
        changes = [
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(uri, version), list(each)
            )
            for (uri, version), each in by_document.items()
        ]
        return types.WorkspaceEdit(
            document_changes=changes,
            change_annotations=_annotations(confirmation) if annotated else None,
        )


def _plain(edit: types.TextEdit | types.AnnotatedTextEdit) -> types.TextEdit:
    return types.TextEdit(edit.range, edit.new_text)


def _annotations(confirmation: str | None) -> dict[str, types.ChangeAnnotation]:
    annotation = types.ChangeAnnotation(
        label=confirmation or "", needs_confirmation=True, description="This changes behaviour."
    )
    return {_ANNOTATION: annotation}


def _line_edits(old: LineIndex, text: str) -> Iterator[tuple[Range, str]]:
    """Whole-line replacements that turn one text into another; line ends are part of a line."""
    before, after = _with_ends(old), _with_ends(LineIndex(text))
    for tag, first, last, start, stop in SequenceMatcher(None, before, after, False).get_opcodes():
        if tag != "equal":
            yield Range(_at(old, first), _at(old, last)), "".join(after[start:stop])


def _with_ends(lines: LineIndex) -> list[str]:
    starts = [*lines.starts, len(lines.text)]
    return [lines.text[a:b] for a, b in pairwise(starts)]


def _at(lines: LineIndex, line: int) -> Position:
    return Position(line, 0) if line < len(lines.lines) else lines.end
