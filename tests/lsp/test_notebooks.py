"""Notebooks: cells are documents of their own and one program together."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_lsp
from lsp_editor import Client, rules, server_config, start, until
from lsprotocol import types

pytestmark = pytest.mark.asyncio(loop_scope="module")

CODE, MARKUP = types.NotebookCellKind.Code, types.NotebookCellKind.Markup
NUMBERS = itertools.count()


@pytest_lsp.fixture(config=server_config(), scope="module")
async def client(lsp_client: Client, root: Path) -> AsyncIterator[None]:
    await start(lsp_client, "push", root)
    yield
    await lsp_client.shutdown_session()


class NotebookEditor:
    """A notebook in an editor: cells by name."""

    def __init__(self, client: Client, root: Path) -> None:
        self.client = client
        self.uri = (root / f"book{next(NUMBERS)}.ipynb").as_uri()
        self.version = 0

    def cell(self, name: str) -> str:
        return f"vscode-notebook-cell:{self.uri.removeprefix('file:')}#{name}"

    def open(self, **cells: str) -> None:
        """Opens a notebook; a cell whose text begins with `#!` is Markdown."""
        self.version += 1
        references = [self._reference(name, text) for name, text in cells.items()]
        notebook = types.NotebookDocument(self.uri, "jupyter-notebook", self.version, references)
        items = [self._item(name, text) for name, text in cells.items()]
        self.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, items))

    def change(self, cells: types.NotebookDocumentCellChanges) -> None:
        self.version += 1
        identifier = types.VersionedNotebookDocumentIdentifier(self.version, self.uri)
        event = types.NotebookDocumentChangeEvent(cells=cells)
        self.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(identifier, event)
        )

    def write(self, name: str, text: str, version: int) -> None:
        """Replaces a cell's text."""
        identifier = types.VersionedTextDocumentIdentifier(version, self.cell(name))
        whole = types.TextDocumentContentChangeWholeDocument(text)
        content = types.NotebookDocumentCellContentChanges(identifier, [whole])
        self.change(types.NotebookDocumentCellChanges(text_content=[content]))

    def insert(self, place: int, name: str, text: str) -> None:
        array = types.NotebookCellArrayChange(place, 0, [self._reference(name, text)])
        structure = types.NotebookDocumentCellChangeStructure(
            array, did_open=[self._item(name, text)]
        )
        self.change(types.NotebookDocumentCellChanges(structure=structure))

    def remove(self, place: int, name: str) -> None:
        closed = [types.TextDocumentIdentifier(self.cell(name))]
        array = types.NotebookCellArrayChange(place, 1)
        structure = types.NotebookDocumentCellChangeStructure(array, did_close=closed)
        self.change(types.NotebookDocumentCellChanges(structure=structure))

    def swap(self, first: str, second: str) -> None:
        """Lets the notebook be these two cells, in this order."""
        cells = [types.NotebookCell(CODE, self.cell(name)) for name in (first, second)]
        array = types.NotebookCellArrayChange(0, 2, cells)
        structure = types.NotebookDocumentCellChangeStructure(array)
        self.change(types.NotebookDocumentCellChanges(structure=structure))

    async def diagnostics(self, name: str, since: int) -> list[types.Diagnostic]:
        """What was published for a cell after `since` messages."""

        def news() -> list[types.PublishDiagnosticsParams]:
            uri = self.cell(name)
            return [each for each in self.client.published[since:] if each.uri == uri]

        await until(self.client, news)
        return list(news()[-1].diagnostics)

    @property
    def now(self) -> int:
        return len(self.client.published)

    def _reference(self, name: str, text: str) -> types.NotebookCell:
        return types.NotebookCell(MARKUP if text.startswith("#!") else CODE, self.cell(name))

    def _item(self, name: str, text: str) -> types.TextDocumentItem:
        language = "markdown" if text.startswith("#!") else "python"
        return types.TextDocumentItem(self.cell(name), language, 1, text)


@pytest.fixture
def notebook(client: Client, root: Path) -> NotebookEditor:
    return NotebookEditor(client, root)


async def test_cells_are_one_program(notebook: NotebookEditor) -> None:
    notebook.open(
        a="%pip install torch\nimport torch",
        text="#! A title",
        b="x = torch.ones(3)\n!nvidia-smi",
        c="%%time\nx.to('cuda')",
    )
    assert await notebook.diagnostics("a", 0) == []
    (found,) = await notebook.diagnostics("c", 0)
    assert found.code == "discarded-transfer"
    assert found.range.start == types.Position(1, 0)


async def test_a_changed_cell_changes_what_follows(notebook: NotebookEditor) -> None:
    notebook.open(a="import torch\nx = torch.ones(3)", b="x.to('cuda')")
    assert rules(await notebook.diagnostics("b", 0)) == ["discarded-transfer"]
    since = notebook.now
    notebook.write("b", "x = x.to('cuda')", 2)
    assert await notebook.diagnostics("b", since) == []


async def test_moved_cells_are_another_program(notebook: NotebookEditor) -> None:
    notebook.open(a="x.to('cuda')", b="import torch\nx = torch.ones(3)")
    assert await notebook.diagnostics("a", 0) == []
    since = notebook.now
    notebook.swap("b", "a")
    assert rules(await notebook.diagnostics("a", since)) == ["discarded-transfer"]


async def test_cells_come_and_go(notebook: NotebookEditor) -> None:
    notebook.open(a="import torch", b="x.to('cuda')")
    assert await notebook.diagnostics("b", 0) == []
    since = notebook.now
    notebook.insert(1, "new", "x = torch.ones(3)")
    assert rules(await notebook.diagnostics("b", since)) == ["discarded-transfer"]
    since = notebook.now
    notebook.remove(1, "new")
    assert await notebook.diagnostics("b", since) == []
    assert await notebook.diagnostics("new", since) == []


async def test_hovers_and_fixes_stay_in_their_cell(notebook: NotebookEditor) -> None:
    notebook.open(a="import torch\nx = torch.ones(3)", b="y = 1\nx.to('cuda')")
    await notebook.diagnostics("b", 0)
    client = notebook.client
    identifier = types.TextDocumentIdentifier(notebook.cell("b"))
    at = types.Position(1, 3)
    found = await client.text_document_hover_async(types.HoverParams(identifier, at))
    assert found is not None
    assert found.range == types.Range(types.Position(1, 0), types.Position(1, 12))
    context = types.CodeActionContext([])
    params = types.CodeActionParams(identifier, types.Range(at, at), context)
    actions = await client.text_document_code_action_async(params) or ()
    fix = next(each for each in actions if isinstance(each, types.CodeAction) and each.is_preferred)
    assert fix.edit is not None
    assert fix.edit.changes is not None
    assert list(fix.edit.changes) == [notebook.cell("b")]
    assert not any(each.title.startswith("Fix all") for each in actions)


async def test_closing_a_notebook_clears_its_cells(notebook: NotebookEditor) -> None:
    notebook.open(a="import torch\nx = torch.ones(3)\nx.to('cuda')")
    assert await notebook.diagnostics("a", 0) != []
    since = notebook.now
    notebook.client.notebook_document_did_close(
        types.DidCloseNotebookDocumentParams(
            types.NotebookDocumentIdentifier(notebook.uri),
            [types.TextDocumentIdentifier(notebook.cell("a"))],
        )
    )
    assert await notebook.diagnostics("a", since) == []


async def test_notebooks_do_not_see_each_other(client: Client, root: Path) -> None:
    first, second = NotebookEditor(client, root), NotebookEditor(client, root)
    first.open(a="import torch\nx = torch.ones(3)", b="x.to('cuda')")
    second.open(a="import torch\nx = torch.nn.Linear(3, 3)", b="x.to('cuda')")
    assert rules(await first.diagnostics("b", 0)) == ["discarded-transfer"]
    assert await second.diagnostics("b", 0) == []
    since = second.now
    second.write("a", "import torch\nx = torch.ones(3)", 2)
    assert rules(await second.diagnostics("b", since)) == ["discarded-transfer"]
    since = first.now
    first.write("a", "import torch\nx = torch.ones(3, device='cuda')", 2)
    assert "discarded-transfer" not in rules(await first.diagnostics("b", since))
