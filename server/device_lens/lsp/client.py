"""What the client can do, as far as it changes what we send."""

from __future__ import annotations

from dataclasses import dataclass

from lsprotocol import types

from device_lens.lsp.settings import SECTION


@dataclass(frozen=True, slots=True)
class Client:
    """Capabilities of the client; everything is off for a client that says nothing."""

    pulls_diagnostics: bool = False
    refreshes_diagnostics: bool = False
    refreshes_hints: bool = False
    refreshes_tokens: bool = False
    configuration: bool = False
    registers_configuration: bool = False
    registers_watchers: bool = False
    registers_tokens: bool = False
    progress: bool = False
    markdown: bool = False
    related_information: bool = False
    code_description: bool = False
    tags: frozenset[types.DiagnosticTag] = frozenset()
    resolves_edits: bool = False
    resolves_hints: bool = False
    literal_actions: bool = False
    document_changes: bool = False
    annotations: bool = False
    shows_documents: bool = False
    is_ours: bool = False
    """It is the extension of this project, which knows our notifications, has commands of its own
    and follows links to them."""
    trusted: bool = False
    speaks_of_trust: bool = False
    """It tells whether the workspace is trusted, so that silence is no yes."""
    project_interpreter: tuple[str, ...] | None = None
    first_settings: object = None
    """The section of settings that came with `initialize`, for a client that cannot be asked."""

    @property
    def hears_news(self) -> bool:
        """Whether further diagnostics of a text reach it: pushed, or after it is told to pull."""
        return not self.pulls_diagnostics or self.refreshes_diagnostics


def read_client(params: types.InitializeParams) -> Client:
    """The client behind an `initialize` request."""
    found = params.capabilities
    text = found.text_document or types.TextDocumentClientCapabilities()
    workspace = found.workspace or types.WorkspaceClientCapabilities()
    options = params.initialization_options
    pushed = text.publish_diagnostics
    edits = workspace.workspace_edit
    literal = text.code_action is not None and bool(text.code_action.code_action_literal_support)
    return Client(
        configuration=bool(workspace.configuration),
        registers_configuration=_dynamic(workspace.did_change_configuration),
        registers_watchers=_dynamic(workspace.did_change_watched_files),
        registers_tokens=_dynamic(text.semantic_tokens),
        progress=bool(found.window and found.window.work_done_progress),
        markdown=_markdown(text.hover),
        shows_documents=bool(found.window and found.window.show_document),
        is_ours=_option(options, "ownCommands") is True,
        trusted=_option(options, "trusted") is True,
        speaks_of_trust=isinstance(options, dict) and "trusted" in options,
        project_interpreter=read_interpreter(options),
        first_settings=_option(options, SECTION),
        pulls_diagnostics=text.diagnostic is not None,
        refreshes_diagnostics=_refreshes(workspace.diagnostics),
        refreshes_hints=_refreshes(workspace.inlay_hint),
        refreshes_tokens=_refreshes(workspace.semantic_tokens),
        resolves_hints=_resolves(text.inlay_hint, "tooltip"),
        related_information=bool(pushed and pushed.related_information),
        code_description=bool(pushed and pushed.code_description_support),
        tags=frozenset(pushed.tag_support.value_set if pushed and pushed.tag_support else ()),
        literal_actions=literal,
        resolves_edits=literal and _resolves(text.code_action, "edit"),
        document_changes=bool(edits and edits.document_changes),
        annotations=bool(edits and edits.change_annotation_support),
    )


def read_interpreter(options: object) -> tuple[str, ...] | None:
    """The command of the project's Python, as the extension names it."""
    command = _option(options, "projectInterpreter")
    if not isinstance(command, list | tuple) or not command:
        return None
    return tuple(command) if all(isinstance(part, str) for part in command) else None


def _option(options: object, name: str) -> object:
    return options.get(name) if isinstance(options, dict) else None


def _dynamic(capability: object) -> bool:
    return bool(getattr(capability, "dynamic_registration", False))


def _refreshes(capability: object) -> bool:
    return bool(getattr(capability, "refresh_support", False))


def _resolves(capability: object, part: str) -> bool:
    support = getattr(capability, "resolve_support", None)
    return support is not None and part in (support.properties or ())


def _markdown(hover: types.HoverClientCapabilities | None) -> bool:
    formats = hover.content_format if hover is not None else None
    return types.MarkupKind.Markdown in (formats or ())
