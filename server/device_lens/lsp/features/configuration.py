"""Settings: asked of the client for each folder, or taken from what it sends, or the defaults."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from lsprotocol import types

from device_lens.lsp.documents import path_of
from device_lens.lsp.session import CONFIGURATION_TIMEOUT, Session
from device_lens.lsp.settings import SECTION, read_settings

logger = logging.getLogger(__name__)

Ask = Callable[[types.ConfigurationParams], Awaitable[Sequence[Any]]]


async def ask(session: Session, folders: Sequence[str], question: Ask) -> None:
    """Asks for the settings of everything and of each folder (a URI), and takes the answer."""
    first = session.client.first_settings
    if not session.client.configuration:
        session.configure(session.settings or {"": read_settings(first)})
        return
    items = [types.ConfigurationItem(section=SECTION)]
    items += [types.ConfigurationItem(scope_uri=uri, section=SECTION) for uri in folders]
    try:
        answers = await asyncio.wait_for(
            question(types.ConfigurationParams(items)), CONFIGURATION_TIMEOUT
        )
    except Exception as error:  # a client may answer with any error; the defaults count then
        logger.warning("No settings from the client: %s", error or type(error).__name__)
        answers = ()
    found = {"": read_settings((answers[0] if answers else None) or first)}
    for uri, answer in zip(folders, list(answers)[1:], strict=False):
        found[path_of(uri)] = read_settings(answer or first)
    session.configure(found)


def take(session: Session, sent: object) -> None:
    """Takes the settings that a client without `workspace/configuration` sends by itself."""
    section = sent.get(SECTION) if isinstance(sent, dict) else None
    if section is not None:
        session.configure({"": read_settings(section)})
