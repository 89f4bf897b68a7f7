"""An editor for tests: opens documents on a real server, types, and applies what it answers."""

from __future__ import annotations

import ast
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient, make_test_lsp_client

from device_lens.lsp.documents import changed_text, position_from
from device_lens.syntax.position import Encoding, LineIndex

PATIENCE = 60.0
"""Seconds after which a test that waits for a message gives up."""
QUIET = '[tool.device-lens]\nseverity = {hardcoded-device = "off"}\n'
"""Configuration of the tests' projects: their programs name devices for the sake of brevity."""
CAPABILITIES = Path(__file__).parent / "capabilities"


class Client(LanguageClient):
    """Keeps what the server sends of its own accord."""

    def __init__(self, **options: Any) -> None:
        super().__init__(converter_factory=default_converter, **options)
        self.published: list[types.PublishDiagnosticsParams] = []
        self.statuses: list[Any] = []
        self.analysed: list[Any] = []
        self.registrations: list[types.Registration] = []
        self.hint_refreshes = 0
        self.held: list[asyncio.Event] = []
        """What the next answers about settings wait for, each for one; then they come at once."""
        self.arrived = asyncio.Event()

    def note(self) -> None:
        """Something arrived: whoever waits looks again."""
        self.arrived.set()

    async def stop(self) -> None:
        """Ends a server that nothing has told to end, as where the set-up of a test has failed:
        waiting for it would last for ever."""
        if self._server is not None and self._server.returncode is None:
            self._server.terminate()
        await super().stop()


def make_client() -> Client:
    """A client with the handlers of an editor."""
    client = Client()
    features = make_test_lsp_client().protocol.fm.features
    for method, handler in features.items():
        if method not in (
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS,
            types.WORKSPACE_DIAGNOSTIC_REFRESH,
            types.WORKSPACE_CONFIGURATION,
            types.WINDOW_SHOW_MESSAGE,
            types.WINDOW_WORK_DONE_PROGRESS_CREATE,
            types.PROGRESS,
            types.WINDOW_SHOW_DOCUMENT,
        ):
            client.feature(method)(handler)
    _answer_requests(client)
    _take_notifications(client)
    return client


def _answer_requests(client: Client) -> None:
    @client.feature(types.WORKSPACE_CONFIGURATION)
    async def on_configuration(params: types.ConfigurationParams) -> list[Any]:
        found = [
            client.get_configuration(section=item.section, scope_uri=item.scope_uri)
            for item in params.items
        ]
        if client.held:
            gate = client.held.pop(0)
            client.note()
            await gate.wait()
        return found

    @client.feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)
    def on_refresh(params: None) -> None:
        client.diagnostic_refresh_count += 1
        client.note()

    @client.feature(types.WORKSPACE_INLAY_HINT_REFRESH)
    def on_hint_refresh(params: None) -> None:
        client.hint_refreshes += 1
        client.note()

    @client.feature(types.WORKSPACE_SEMANTIC_TOKENS_REFRESH)
    def on_token_refresh(params: None) -> None:
        client.note()

    @client.feature(types.WINDOW_SHOW_DOCUMENT)
    def on_show_document(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
        client.shown_documents.append(params)
        client.note()
        return types.ShowDocumentResult(success=True)

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def on_register(params: types.RegistrationParams) -> None:
        client.registrations += params.registrations
        client.note()

    @client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
    def on_progress_begins(params: types.WorkDoneProgressCreateParams) -> None:
        client.progress_reports[params.token] = []


def _take_notifications(client: Client) -> None:
    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def on_diagnostics(params: types.PublishDiagnosticsParams) -> None:
        client.published.append(params)
        client.note()

    @client.feature(types.WINDOW_SHOW_MESSAGE)
    def on_message(params: types.ShowMessageParams) -> None:
        client.messages.append(params)
        client.note()

    @client.feature(types.PROGRESS)
    def on_progress(params: types.ProgressParams) -> None:
        client.progress_reports[params.token].append(params.value)
        client.note()

    @client.feature("deviceLens/status")
    def on_status(params: Any) -> None:
        client.statuses.append(params)
        client.note()

    @client.feature("deviceLens/analysed")
    def on_analysed(params: Any) -> None:
        client.analysed += params.uris
        client.note()


def server_config() -> ClientServerConfig:
    """Runs the server as editors do."""
    command = [sys.executable, "-m", "device_lens", "serve"]
    return ClientServerConfig(server_command=command, client_factory=make_client)


def capabilities(name: str, **general: Any) -> types.ClientCapabilities:
    """The capabilities of a kind of client: `pull` or `push`."""
    data = json.loads((CAPABILITIES / f"{name}.json").read_text(encoding="utf-8"))
    data.setdefault("general", {}).update(general)
    return get_converter().structure(data, types.ClientCapabilities)


async def start(
    client: Client, kind: str, root: Path, *, options: Any = None, **general: Any
) -> None:
    """Starts a session over a folder."""
    folder = types.WorkspaceFolder(root.as_uri(), root.name)
    params = types.InitializeParams(
        capabilities=capabilities(kind, **general),
        workspace_folders=[folder],
        initialization_options=options,
    )
    await client.initialize_session(params)


@asynccontextmanager
async def within(seconds: float) -> AsyncIterator[None]:
    """Ends the test that takes longer. `asyncio.timeout` is there from Python 3.11 on."""
    task = asyncio.current_task()
    assert task is not None
    timer = asyncio.get_running_loop().call_later(seconds, task.cancel)
    try:
        yield
    finally:
        timer.cancel()


async def until(client: Client, condition: Any) -> None:
    """Waits for messages until a condition holds; a test fails when it never does."""
    async with within(PATIENCE):
        while not condition():
            client.arrived.clear()
            await client.arrived.wait()


class Editor:
    """A document in an editor."""

    def __init__(self, client: Client, path: Path, encoding: Encoding = "utf-16") -> None:
        self.client = client
        self.path = path
        self.uri = path.as_uri()
        self.encoding = encoding
        self.version = 0
        self.lines = LineIndex("")

    @property
    def text(self) -> str:
        return self.lines.text

    def open(self, text: str) -> Editor:
        """Opens the document with a text, whatever the disk has."""
        self.version += 1
        self.lines = LineIndex(text)
        item = types.TextDocumentItem(self.uri, "python", self.version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return self

    def replace(self, old: str, new: str) -> None:
        """Types over the first place where a text stands, as one incremental change."""
        offset = self.text.index(old)
        where = types.Range(self._at(offset), self._at(offset + len(old)))
        self.change(types.TextDocumentContentChangePartial(where, new))

    def change(self, *changes: types.TextDocumentContentChangeEvent) -> None:
        self.version += 1
        for change in changes:
            self.lines = LineIndex(changed_text(self.lines, change, self.encoding))
        identifier = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        params = types.DidChangeTextDocumentParams(identifier, list(changes))
        self.client.text_document_did_change(params)

    def save(self) -> None:
        identifier = types.TextDocumentIdentifier(self.uri)
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(identifier))

    def close(self) -> None:
        identifier = types.TextDocumentIdentifier(self.uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))

    def at(self, part: str, inside: int = 0) -> types.Position:
        """The position of a part of the text."""
        return self._at(self.text.index(part) + inside)

    def range_of(self, part: str) -> types.Range:
        offset = self.text.index(part)
        return types.Range(self._at(offset), self._at(offset + len(part)))

    def slice(self, where: types.Range) -> str:
        """The text of a range that the server named."""
        start = self.lines.offset(position_from(self.lines, where.start, self.encoding))
        end = self.lines.offset(position_from(self.lines, where.end, self.encoding))
        return self.text[start:end]

    def _at(self, offset: int) -> types.Position:
        position = self.lines.position(offset)
        return types.Position(position.line, self.lines.to_units(position, self.encoding))

    async def pull(self, previous: str | None = None) -> Any:
        params = types.DocumentDiagnosticParams(
            types.TextDocumentIdentifier(self.uri), previous_result_id=previous
        )
        return await self.client.text_document_diagnostic_async(params)

    async def pulled(self) -> list[str]:
        """The rules of the diagnostics that the server answers with."""
        return rules((await self.pull()).items)

    async def told(self, *expected: str) -> list[types.Diagnostic]:
        """The diagnostics of these rules, pulled anew with each message until the server tells
        them: a first look at a file may tell less."""
        async with within(PATIENCE):
            while True:
                self.client.arrived.clear()
                items = list((await self.pull()).items)
                if rules(items) == list(expected):
                    return items
                await self.client.arrived.wait()

    async def pushed(self, version: int | None = None) -> list[types.Diagnostic]:
        """The diagnostics published for a version, by default the newest text's."""
        wanted = self.version if version is None else version

        def found() -> list[types.PublishDiagnosticsParams]:
            every = self.client.published
            return [each for each in every if each.uri == self.uri and each.version == wanted]

        await until(self.client, found)
        return list(found()[-1].diagnostics)

    async def hover(self, part: str, inside: int = 0) -> types.Hover | None:
        identifier = types.TextDocumentIdentifier(self.uri)
        params = types.HoverParams(identifier, self.at(part, inside))
        return await self.client.text_document_hover_async(params)

    async def actions(self, part: str, only: Iterable[str] | None = None) -> list[types.CodeAction]:
        context = types.CodeActionContext([], list(only) if only is not None else None)
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(self.uri), self.range_of(part), context
        )
        found = await self.client.text_document_code_action_async(params)
        return [_as_action(each) for each in found or ()]

    async def resolved(self, action: types.CodeAction) -> types.CodeAction:
        return await self.client.code_action_resolve_async(action)

    def apply(self, edit: types.WorkspaceEdit | None) -> None:
        """Applies the edits of this document as an editor would, and tells the server."""
        assert edit is not None
        edits: list[Any] = list((edit.changes or {}).get(self.uri, ()))
        for change in edit.document_changes or ():
            assert isinstance(change, types.TextDocumentEdit)
            if change.text_document.uri == self.uri:
                assert change.text_document.version == self.version
                edits += change.edits
        self.change(*to_changes(edits))


def _as_action(found: types.CodeAction | types.Command) -> types.CodeAction:
    """The action as it was sent: lsprotocol reads one that has a command as a bare command."""
    if isinstance(found, types.CodeAction):
        return found
    command = get_converter().structure(ast.literal_eval(found.command), types.Command)
    return types.CodeAction(found.title, command=command)


def to_changes(edits: Iterable[Any]) -> list[types.TextDocumentContentChangeEvent]:
    """Edits as changes, the last place first, so that each leaves the others' places alone."""
    ordered = sorted(
        edits, key=lambda each: (each.range.start.line, each.range.start.character), reverse=True
    )
    return [types.TextDocumentContentChangePartial(each.range, each.new_text) for each in ordered]


def rules(diagnostics: Iterable[types.Diagnostic]) -> list[str]:
    return [str(each.code) for each in diagnostics]
