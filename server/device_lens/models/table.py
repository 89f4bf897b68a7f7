"""Text tables of rows: a row at the margin, indented below it the functions it is true of."""

from __future__ import annotations

from collections.abc import Iterator

from device_lens.models.operation import TableModel
from device_lens.models.registry import FUNCTIONS


def entries(table: str) -> Iterator[tuple[str, str]]:
    """Function names with their rows. Lines that start with `#` are comments."""
    row = ""
    for line in table.splitlines():
        if not line or line.startswith("#"):
            continue
        if line[0] != " ":
            row = line
            continue
        for name in line.split():
            yield name, row


def register(table: str, namespace: str) -> None:
    """Makes the table's functions known under `namespace`."""
    for name, row in entries(table):
        FUNCTIONS[f"{namespace}.{name}"] = TableModel(row)
