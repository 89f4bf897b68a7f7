"""Code actions from what is already known: fixes, ignore comments, rule pages, measuring, fixing
everything.

Where the client can ask for edits later, they are made when an action is chosen; the fix of
everything is always made then, since it looks at the file again after each fix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from device_lens.lsp.client import Client
from device_lens.lsp.convert import to_file_range
from device_lens.lsp.features import measuring_here, rule_pages
from device_lens.lsp.result import Result
from device_lens.lsp.scheduler import Stale
from device_lens.lsp.session import Session
from device_lens.lsp.workspace_edit import EditMaker

if TYPE_CHECKING:
    from device_lens.ide.code_actions import CodeAction

FIX_ALL = "source.fixAll.deviceLens"
NOTEBOOK_FIX_ALL = "notebook.source.fixAll.deviceLens"
OPTIONS = types.CodeActionOptions(
    code_action_kinds=[
        types.CodeActionKind.QuickFix,
        types.CodeActionKind.RefactorRewrite,
        FIX_ALL,
        NOTEBOOK_FIX_ALL,
        measuring_here.KIND,
    ],
    resolve_provider=True,
)
OPEN_RULE = "deviceLens.openRule"
"""The command of our extension that shows a page rendered."""
_KINDS = {"suppress": "quickfix", "explain": "quickfix"}


async def code_actions(
    session: Session, params: types.CodeActionParams
) -> list[types.CodeAction] | None:
    """What can be done at a range."""
    if not session.client.literal_actions:
        return None
    uri = params.text_document.uri
    result = await session.result(uri)
    if result is None:
        return None
    found = [
        action
        for action in _found(session, result, uri, params.range)
        if _is_wanted(_kind(action, result), params.context.only)
    ]
    made = [_make(session, result, uri, params, action) for action in found]
    if _is_wanted(measuring_here.KIND, params.context.only):
        made.append(measuring_here.action(session, result, uri, params.range.start))
    return [each for each in made if each is not None]


async def resolve(session: Session, action: types.CodeAction) -> types.CodeAction:
    """The action with its edits. Raises `Stale` when the text is another one by now. Some editors
    ask about actions that only have a command, too."""
    if action.command is not None:
        return action
    data: Any = action.data if isinstance(action.data, dict) else {}
    uri = str(data.get("uri"))
    result = await session.result(uri)
    document = None if result is None else result.view.document(uri)
    if result is None or document is None or document.version != data.get("version"):
        raise Stale
    if action.kind in (FIX_ALL, NOTEBOOK_FIX_ALL):
        action.edit = await _fix_all(session, result)
        return action
    for known in result_actions(result):
        if _key(known) == data.get("key"):
            action.edit = _edit(session, result, known)
            return action
    raise Stale


def result_actions(result: Result) -> list[CodeAction]:
    """Every action of a file."""
    from device_lens.ide.code_actions import code_actions as find
    from device_lens.syntax.position import Position, Range

    everywhere = Range(Position(0, 0), result.source.lines.end)
    return find(result.source, result.findings, everywhere)


def _found(session: Session, result: Result, uri: str, where: types.Range) -> Iterator[CodeAction]:
    from device_lens.ide.code_actions import ActionKind
    from device_lens.ide.code_actions import code_actions as find

    window = to_file_range(result.view, result.source, uri, where, session.documents.encoding)
    if window is None:
        return
    for action in find(result.source, result.findings, window):
        if action.kind is not ActionKind.EXPLAIN or _can_explain(session.client):
            yield action


def _can_explain(client: Client) -> bool:
    return client.is_ours or client.shows_documents


def _kind(action: CodeAction, result: Result) -> str:
    """The protocol's kind. Per cell there is no `source.fixAll`: editors would run it on each
    cell by itself when a notebook is saved."""
    kind = action.kind.value
    if kind == FIX_ALL and result.view.is_notebook:
        return NOTEBOOK_FIX_ALL
    return _KINDS.get(kind, kind)


def _is_wanted(kind: str, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Whether the client asks for a kind. A menu of everything leaves out rewrites: they stand in
    it as quick fixes."""
    if only is None:
        return kind not in (NOTEBOOK_FIX_ALL, types.CodeActionKind.RefactorRewrite.value)
    wanted = [each.value if isinstance(each, types.CodeActionKind) else each for each in only]
    return any(not each or kind == each or kind.startswith(f"{each}.") for each in wanted)


def _make(
    session: Session,
    result: Result,
    uri: str,
    params: types.CodeActionParams,
    action: CodeAction,
) -> types.CodeAction | None:
    document = result.view.document(uri)
    if document is None:
        return None
    kind = _kind(action, result)
    lazily = session.client.resolves_edits
    made = types.CodeAction(
        title=action.title,
        kind=kind,
        diagnostics=_diagnostics(action, params.context.diagnostics),
        is_preferred=action.preferred or None,
    )
    if action.kind.value == "explain":
        rule = action.finding.rule if action.finding is not None else ""
        name = OPEN_RULE if session.client.is_ours else rule_pages.SHOW
        made.command = types.Command(action.title, name, arguments=[rule])
        return made
    if lazily:
        made.data = {"uri": uri, "version": document.version, "key": _key(action)}
        return made
    if kind in (FIX_ALL, NOTEBOOK_FIX_ALL):
        return None  # its edits are too costly for a menu that is only looked at
    made.edit = _edit(session, result, action)
    return made if made.edit is not None else None


def _key(action: CodeAction) -> list[Any]:
    """Tells an action from the others of its file, as JSON."""
    finding = action.finding
    if finding is None:
        return [action.kind.value]
    start = finding.range.start
    return [action.kind.value, action.title, finding.rule, start.line, start.column]


def _diagnostics(
    action: CodeAction, shown: Sequence[types.Diagnostic]
) -> list[types.Diagnostic] | None:
    """The client's diagnostics that the action is about."""
    if action.finding is None:
        return None
    return [each for each in shown if each.code == action.finding.rule] or None


def _edit(session: Session, result: Result, action: CodeAction) -> types.WorkspaceEdit | None:
    maker = EditMaker(session, result)
    return maker.from_edits(action.edits, action.title if action.needs_confirmation else None)


async def _fix_all(session: Session, result: Result) -> types.WorkspaceEdit | None:
    """All safe fixes of the file, as one edit."""
    request = session.request(result.view)
    work = partial(session.analyst.fix_all, request)
    contents = await session.scheduler.submit(("fix all", result.view.path), work)
    if not session.is_current(result):
        raise Stale
    return EditMaker(session, result).from_contents(contents)
