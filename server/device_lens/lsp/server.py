"""The language server: the only place that registers features and talks to the client.

A handler takes its parameters, asks a feature, and answers. Documents are applied as they come,
in order; everything that computes waits for the analysis thread.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any, BinaryIO, TypeVar

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.io_ import StdoutWriter, run_async
from pygls.lsp.server import LanguageServer

from device_lens import __version__
from device_lens.lsp import parent
from device_lens.lsp.answers import answering, answering_pull
from device_lens.lsp.client import read_client
from device_lens.lsp.documents import path_of
from device_lens.lsp.features import (
    calibrating,
    code_actions,
    device_map,
    diagnostics,
    hover,
    inlay_hints,
    measuring,
    measuring_here,
    rule_pages,
    semantic_tokens,
    transfer_curve,
    watched_files,
    workspace_diagnostics,
)
from device_lens.lsp.features.status import Status
from device_lens.lsp.logs import configure_logging
from device_lens.lsp.neighbours import Neighbours
from device_lens.lsp.progress import reporting
from device_lens.lsp.protocol import Protocol, make_converter
from device_lens.lsp.publishing import Publishing
from device_lens.lsp.reader import MessageReader
from device_lens.lsp.session import Session
from device_lens.syntax.position import Encoding

P = TypeVar("P")
R = TypeVar("R")

logger = logging.getLogger(__name__)

NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithNotebook(
            notebook=types.NotebookDocumentFilterNotebookType(notebook_type=kind),
            cells=[types.NotebookCellLanguage(language="python")],
        )
        for kind in ("jupyter-notebook", "interactive")
    ]
)


class Server(LanguageServer):
    """The server with its session."""

    def __init__(self) -> None:
        super().__init__(
            "device-lens",
            __version__,
            notebook_document_sync=NOTEBOOKS,
            protocol_cls=Protocol,
            converter_factory=make_converter,
        )
        self.session = Session()
        self.status = Status(self.session, self.protocol.notify)
        self.neighbours = Neighbours(self.session)
        self.publishing = Publishing(self)
        self._tasks: set[asyncio.Future[Any]] = set()
        self._reader: MessageReader | None = None

    def start_io(self, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> None:
        """As pygls does it, with a reader that hands whole messages over."""
        self._stop_event = threading.Event()
        self.protocol.set_writer(StdoutWriter(stdout or sys.stdout.buffer))
        try:
            asyncio.run(self._read(stdin or os.fdopen(os.dup(sys.stdin.fileno()), "rb")))
        except BrokenPipeError:
            logger.error("The client is gone.")
        except (KeyboardInterrupt, SystemExit):
            pass
        finally:
            self.shutdown()

    async def _read(self, stdin: BinaryIO) -> None:
        assert self._stop_event is not None
        self._reader = MessageReader(stdin)
        await run_async(
            self._stop_event, self._reader, self.protocol, logger, self.report_server_error
        )

    def shutdown(self) -> None:
        """Ends the server, whatever it waits for."""
        super().shutdown()  # type: ignore[no-untyped-call]
        if self._reader is not None:
            self._reader.end()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """A defect goes to the log: a pop-up would say nothing that the user can act on. pygls
        has logged what a request raised."""
        if source is FeatureRequestError:
            return
        logger.error("%s: %s", getattr(source, "__name__", source), error)

    def spawn(self, work: Awaitable[Any]) -> None:
        """Runs work of our own; a failure is logged."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("Work in the background failed", exc_info=task.exception())


def create_server() -> Server:
    """A server with all its features, ready to be started."""
    server = Server()
    _register_lifecycle(server)
    _register_documents(server)
    _register_workspace(server)
    _register_requests(server)
    _register_commands(server)
    return server


def serve_stdio() -> None:
    """Serves one client over standard input and output. Whatever else writes to standard output
    is heard on standard error: it would break the protocol."""
    configure_logging()
    sys.stdout.flush()
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    create_server().start_io(stdout=output)


def serve_tcp(host: str, port: int) -> None:
    """Serves one client over TCP."""
    configure_logging()
    create_server().start_tcp(host, port)


def _register_lifecycle(server: Server) -> None:
    session = server.session

    @server.feature(types.INITIALIZE)
    def on_initialize(params: types.InitializeParams) -> None:
        session.client = read_client(params)
        server.publishing.offer_tokens()
        folders = [each.uri for each in params.workspace_folders or ()]
        if not folders and params.root_uri:
            folders = [params.root_uri]
        server.publishing.folder_uris = folders
        session.folders = tuple(path_of(uri) for uri in folders)

    @server.feature(types.INITIALIZED)
    async def on_initialized(params: types.InitializedParams) -> None:
        session.documents.encoding = _encoding(server.server_capabilities.position_encoding)
        session.start()
        if server.process_id is not None:
            server.spawn(parent.watch(server.process_id, server.shutdown))
        server.spawn(server.publishing.register())
        await server.publishing.ask_for_settings()
        server.status.settled()

    @server.feature(types.SHUTDOWN)
    def on_shutdown(params: None) -> None:
        server.neighbours.close()
        session.close()


def _encoding(chosen: types.PositionEncodingKind | str | None) -> Encoding:
    """The unit in which the client counts columns; UTF-16 where it does not say."""
    if chosen == types.PositionEncodingKind.Utf8:
        return "utf-8"
    return "utf-32" if chosen == types.PositionEncodingKind.Utf32 else "utf-16"


def _register_documents(server: Server) -> None:
    session = server.session
    documents = session.documents

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def on_open(params: types.DidOpenTextDocumentParams) -> None:
        documents.open(params.text_document)
        server.publishing.opened(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def on_change(params: types.DidChangeTextDocumentParams) -> None:
        documents.change(params.text_document, params.content_changes)
        server.publishing.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE, types.SaveOptions(include_text=False))
    def on_save(params: types.DidSaveTextDocumentParams) -> None:
        server.publishing.saved(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def on_close(params: types.DidCloseTextDocumentParams) -> None:
        view = documents.view(params.text_document.uri)
        documents.close(params.text_document.uri)
        server.publishing.closed(view)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def on_notebook_open(params: types.DidOpenNotebookDocumentParams) -> None:
        documents.open_notebook(params)
        server.publishing.opened(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def on_notebook_change(params: types.DidChangeNotebookDocumentParams) -> None:
        before = documents.view(params.notebook_document.uri)
        documents.change_notebook(params)
        server.publishing.changed(params.notebook_document.uri, before)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def on_notebook_close(params: types.DidCloseNotebookDocumentParams) -> None:
        view = documents.view(params.notebook_document.uri)
        documents.close_notebook(params)
        server.publishing.closed(view)


def _register_workspace(server: Server) -> None:
    session = server.session

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def on_configuration(params: types.DidChangeConfigurationParams) -> None:
        await server.publishing.ask_for_settings(params.settings)
        server.status.settled()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def on_watched_files(params: types.DidChangeWatchedFilesParams) -> None:
        if await watched_files.take(session, params):
            server.neighbours.refresh_all()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def on_folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        removed = {each.uri for each in params.event.removed}
        kept = [uri for uri in server.publishing.folder_uris if uri not in removed]
        server.publishing.folder_uris = [*kept, *(each.uri for each in params.event.added)]
        session.folders = tuple(path_of(uri) for uri in server.publishing.folder_uris)
        await server.publishing.ask_for_settings()

    @server.feature("deviceLens/environment")
    def on_environment(params: Any) -> None:
        session.set_environment(params)

    @server.feature("deviceLens/rulePage")
    async def on_rule_page(params: Any) -> dict[str, str] | None:
        return await rule_pages.rule_page(session, params)


def _register_requests(server: Server) -> None:
    session = server.session

    def answers(
        method: str, work: Callable[[Session, P], Awaitable[R]], options: Any = None
    ) -> None:
        server.feature(method, options)(answering(session, work))

    async def pull_workspace(
        session: Session, params: types.WorkspaceDiagnosticParams
    ) -> types.WorkspaceDiagnosticReport:
        with reporting(server, params.work_done_token, "Device Lens: workspace") as report:
            return await workspace_diagnostics.pull(session, params, report)

    server.feature(types.WORKSPACE_DIAGNOSTIC)(answering_pull(session, pull_workspace))
    server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(
            inter_file_dependencies=True, workspace_diagnostics=False, identifier="device-lens"
        ),
    )(answering_pull(session, diagnostics.pull))
    answers(types.TEXT_DOCUMENT_HOVER, hover.hover)
    answers(types.TEXT_DOCUMENT_CODE_ACTION, code_actions.code_actions, code_actions.OPTIONS)
    answers(types.CODE_ACTION_RESOLVE, code_actions.resolve)
    answers(
        types.TEXT_DOCUMENT_INLAY_HINT,
        inlay_hints.inlay_hints,
        types.InlayHintOptions(resolve_provider=True),
    )
    answers(types.INLAY_HINT_RESOLVE, inlay_hints.resolve)
    answers(device_map.METHOD, device_map.device_map)
    answers(transfer_curve.METHOD, transfer_curve.transfer_curve)
    server.publishing.token_handlers = {
        types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: semantic_tokens.full,
        types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: semantic_tokens.ranged,
    }


def _register_commands(server: Server) -> None:
    session = server.session

    @server.command(measuring.MEASURE)
    def on_measure(name: str) -> None:
        measuring.measure(session, name)

    @server.command(measuring_here.MEASURE_AT)
    async def on_measure_at(uri: str, position: types.Position) -> dict[str, Any]:
        return await measuring_here.measure_at(server, uri, position)

    @server.command(rule_pages.SHOW)
    async def on_show_rule_page(rule: str) -> None:
        await rule_pages.show(rule, server.window_show_document_async)

    @server.command(measuring.CLEAR_MEASUREMENTS)
    async def on_clear_measurements() -> None:
        await measuring.clear(session)

    @server.command(calibrating.CALIBRATE)
    async def on_calibrate() -> bool:
        return await calibrating.calibrate(server)
