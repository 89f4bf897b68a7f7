"""Where the page of a rule is: a file of the package, or a page of `docs-url`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import lru_cache

from lsprotocol import types
from pygls.uris import from_fs_path

from device_lens.lsp.session import Session

SHOW = "deviceLens.showRulePage"


def page_uri(rule: str, docs_url: str | None = None) -> str | None:
    """The URI of a rule's page; None where there is none."""
    if docs_url is not None:
        return f"{docs_url.rstrip('/')}/{rule}"
    return _file_uri(rule)


@lru_cache(maxsize=256)
def _file_uri(rule: str) -> str | None:
    from device_lens.ide.rule_pages import page_path

    path = page_path(rule)
    return None if path is None else from_fs_path(str(path))


async def show(
    rule: object, ask: Callable[[types.ShowDocumentParams], Awaitable[types.ShowDocumentResult]]
) -> None:
    """Lets the client show the page of a rule; what is no rule shows nothing."""
    href = page_uri(rule) if isinstance(rule, str) else None
    if href is not None:
        await ask(types.ShowDocumentParams(href, take_focus=True))


async def rule_page(session: Session, params: object) -> dict[str, str] | None:
    """Answers `deviceLens/rulePage`: `{rule}` → `{href}`."""
    rule = params.get("rule") if isinstance(params, dict) else getattr(params, "rule", None)
    href = page_uri(rule) if isinstance(rule, str) else None
    return None if href is None else {"href": href}
