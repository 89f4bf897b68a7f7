"""pygls' protocol with what we need otherwise: our own documents, plain dicts in custom messages,
and an answer to every request, malformed ones included."""

from __future__ import annotations

import contextlib
from concurrent.futures import Future
from typing import Any

from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest
from pygls.protocol import (
    JsonRPCNotification,
    JsonRPCRequestMessage,
    JsonRPCResponseMessage,
    LanguageServerProtocol,
    default_converter,
)

_OWN = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
)


class Protocol(LanguageServerProtocol):
    """The language server protocol as our server speaks it."""

    def _register_builtin_features(self) -> None:
        """Leaves documents to us: pygls ends lines at form feeds and reads unopened files."""
        super()._register_builtin_features()  # type: ignore[no-untyped-call]
        for method in _OWN:
            self.fm.builtin_features.pop(method, None)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message as an object. A request that is none gets an error, not silence."""
        try:
            _demand_envelope(data)
            message = super().structure_message(data)
        except JsonRpcException as error:
            if isinstance(data.get("id"), int | str) and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise
        command = getattr(message, "params", None)
        if isinstance(command, types.ExecuteCommandParams):
            # Without arguments pygls calls a command as it is; an empty list it holds against it.
            command.arguments = command.arguments or []
        return message

    def _handle_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        """An answer to a question that was taken back is no longer wanted, and no defect. One that
        has the number of a question to us answers nothing: that question goes on."""
        asked = self._request_futures.get(msg_id)
        if asked is not None and not isinstance(asked, Future):
            return
        if asked is not None and asked.cancelled():
            self._request_futures.pop(msg_id)
            return
        super()._handle_response(msg_id, result, error)


def _demand_envelope(data: dict[str, Any]) -> None:
    """A message's method is a name, its id a number or a text: pygls takes both on trust."""
    if "jsonrpc" not in data:
        return  # a part of a message
    if not isinstance(data.get("method", "" if "id" in data else None), str):
        raise JsonRpcInvalidRequest("the method is not a text")
    if not isinstance(data.get("id", 0), int | str | None):
        raise JsonRpcInvalidRequest("the id is neither a number nor a text")


def make_converter() -> Converter:
    """Like pygls' own, but the parameters of methods that it does not know stay plain dicts."""
    converter = default_converter()  # type: ignore[no-untyped-call]
    for kind in (JsonRPCRequestMessage, JsonRPCNotification, JsonRPCResponseMessage):
        converter.register_structure_hook(kind, _as_it_is)
    return converter  # type: ignore[no-any-return]


def _as_it_is(data: dict[str, Any], kind: Any) -> Any:
    fields = {field.name for field in kind.__attrs_attrs__}
    known = {name: data.get(name) for name in fields}
    with contextlib.suppress(AttributeError):
        return kind(**known)
    return kind(**data)
