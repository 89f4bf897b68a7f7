"""Settings: asked of the client for each folder, or taken from what it sends, or the defaults."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from lsprotocol import types

from device_lens.lsp.documents import path_of
from device_lens.lsp.session import Session
from device_lens.lsp.settings import SECTION, Settings, read_settings

logger = logging.getLogger(__name__)

Ask = Callable[[types.ConfigurationParams], Awaitable[Sequence[Any]]]


async def ask(
    session: Session, folders: Sequence[str], question: Ask, sent: object = None
) -> dict[str, Settings]:
    """The settings of everything and of each folder (a URI): those that the client answers with,
    however long that takes, or those that it has `sent`, or those that count by now."""
    known = _sent(sent) or session.settings or session.first_settings
    if not session.client.configuration:
        return known
    items = [types.ConfigurationItem(section=SECTION)]
    items += [types.ConfigurationItem(scope_uri=uri, section=SECTION) for uri in folders]
    try:
        answers = await question(types.ConfigurationParams(items))
    except Exception as error:  # a client may answer with any error
        logger.warning("No settings from the client: %s", error or type(error).__name__)
        return known
    first = session.client.first_settings
    found = {"": read_settings((answers[0] if answers else None) or first)}
    for uri, answer in zip(folders, list(answers or ())[1:], strict=False):
        found[path_of(uri)] = read_settings(answer or first)
    return found


def _sent(sent: object) -> dict[str, Settings] | None:
    """The settings that a client without `workspace/configuration` sends by itself."""
    section = sent.get(SECTION) if isinstance(sent, dict) else None
    return None if section is None else {"": read_settings(section)}
