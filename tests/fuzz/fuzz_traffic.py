"""Conversations that no well-behaved client has: answers out of order, cancelled and stale
requests, broken parameters, unknown documents, notebooks whose cells come and go.

The server runs in this process, behind the same reader of messages as in an editor.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Sequence
from random import Random

from fuzz_checks import Wrong
from fuzz_client import Client
from fuzz_user import User
from pygls.io_ import run_async

from device_lens.lsp.server import Server, create_server

PATIENCE = 120.0
"""Seconds to wait for answers, whatever the machine."""
_INTERNAL_ERROR = -32603


class _Log(logging.Handler):
    """Keeps what the server's own code raised. A broken message is none of its defects."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.defects: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        ours = record.name.startswith("device_lens")
        broken = str(record.getMessage()).startswith("JsonRpcException: ")
        if (ours and not broken) or (error is not None and not _is_protocol(error)):
            self.defects.append(f"{record.getMessage()} ({error!r})"[:500])


def _is_protocol(error: BaseException) -> bool:
    """Whether an error is how the protocol says no."""
    from pygls.exceptions import JsonRpcException

    return isinstance(error, JsonRpcException | json.JSONDecodeError | UnicodeDecodeError)


def converse(corpus: object, random: Random) -> None:
    """One conversation. Raises `Wrong`."""
    assert isinstance(corpus, Sequence)
    log = _Log()
    quiet = logging.getLogger("pygls")
    before = quiet.level, quiet.propagate
    quiet.setLevel(logging.ERROR)
    quiet.propagate = False
    logging.getLogger("device_lens").addHandler(log)
    quiet.addHandler(log)
    try:
        asyncio.run(_converse(random, corpus, log))
    finally:
        logging.getLogger("device_lens").removeHandler(log)
        quiet.removeHandler(log)
        quiet.setLevel(before[0])
        quiet.propagate = before[1]


async def _converse(random: Random, corpus: Sequence[str], log: _Log) -> None:
    server = create_server()
    reader = asyncio.StreamReader(limit=1 << 26)
    client = Client(reader, random)
    user = User(client, random, corpus)
    server.protocol.set_writer(client)  # type: ignore[arg-type]
    serving = asyncio.ensure_future(
        run_async(threading.Event(), reader, server.protocol, None, server.report_server_error)  # type: ignore[arg-type]
    )
    try:
        await asyncio.wait_for(_talk(client, user, random), PATIENCE)
        await _settle(client, user)
        _check(client, server, log)
    except asyncio.TimeoutError:
        raise Wrong(f"no answer to {sorted(client.waiting.values())[:3]}") from None
    finally:
        server.session.close()
        reader.feed_eof()
        await asyncio.wait_for(serving, PATIENCE)


async def _talk(client: Client, user: User, random: Random) -> None:
    client.initialize()
    await client.answered()
    for _ in range(random.randint(10, 40)):
        user.act()
        if random.random() < 0.25:
            await client.answered()
        elif random.random() < 0.4:
            await asyncio.sleep(random.choice([0, 0, 0.005]))
    client.release()


async def _settle(client: Client, user: User) -> None:
    """Ends the talk with all that can be asked."""
    user.ask_about_all()
    try:
        await asyncio.wait_for(client.answered(), PATIENCE)
    except asyncio.TimeoutError:
        raise Wrong(f"no answer to {sorted(client.waiting.values())[:3]}") from None


def _check(client: Client, server: Server, log: _Log) -> None:
    if log.defects:
        raise Wrong(f"logged: {log.defects[0]}")
    if client.complaints:
        raise Wrong(client.complaints[0])
    for text in client.documents.texts():
        view = server.session.documents.view(text.uri)
        document = None if view is None else view.document(text.uri)
        if document is None:
            raise Wrong(f"the server does not know {text.uri}")
        if document.lines.text != text.lines.text:
            raise Wrong(f"the server has another text of {text.uri}")
