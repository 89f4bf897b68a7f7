"""pygls' protocol with what we need otherwise: our own documents, plain dicts in custom messages,
and an answer to every request, malformed ones included."""

from __future__ import annotations

import contextlib
from typing import Any

from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import JsonRpcException
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
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise


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
