"""Messages as they come over a pipe."""

from __future__ import annotations

import asyncio
import os

from device_lens.lsp.reader import MessageReader


async def read(reader: MessageReader) -> list[bytes]:
    """All lines, and as many contents as the lines announce, to the end."""
    found: list[bytes] = []
    while line := await reader.readline():
        found.append(line)
        if line == b"\r\n":
            found.append(await reader.readexactly(0))
    return found


def test_a_message_in_pieces_and_two_at_once() -> None:
    async def run() -> list[bytes]:
        out, into = os.pipe()
        with os.fdopen(out, "rb") as stream, os.fdopen(into, "wb", buffering=0) as pipe:
            reader = MessageReader(stream)
            reading = asyncio.ensure_future(read(reader))
            for piece in (b"Content-Le", b"ngth: 3\r\n", b"\r\n{", b"}\n"):
                pipe.write(piece)
                await asyncio.sleep(0.01)
            pipe.write(b"X-Other: 1\r\nContent-Length: 1\r\n\r\n1Content-Length: 1\r\n\r\n2")
            pipe.close()
            return await reading

    three, one = b"Content-Length: 3\r\n", b"Content-Length: 1\r\n"
    assert asyncio.run(run()) == [
        *(three, b"\r\n", b"{}\n"),
        *(b"X-Other: 1\r\n", one, b"\r\n", b"1"),
        *(one, b"\r\n", b"2"),
    ]


def test_a_stream_that_breaks_off_ends() -> None:
    async def run() -> list[bytes]:
        out, into = os.pipe()
        os.write(into, b"Content-Length: 9\r\n\r\n{")
        os.close(into)
        with os.fdopen(out, "rb") as stream:
            return await read(MessageReader(stream))

    assert asyncio.run(run()) == [b"Content-Length: 9\r\n", b"\r\n", b"{"]


def test_whoever_waits_is_told_of_an_end() -> None:
    async def run() -> bytes:
        out, into = os.pipe()
        with os.fdopen(out, "rb") as stream, os.fdopen(into, "wb"):
            reader = MessageReader(stream)
            asyncio.get_running_loop().call_later(0.01, reader.end)
            return await asyncio.wait_for(reader.readline(), 5)

    assert asyncio.run(run()) == b""
