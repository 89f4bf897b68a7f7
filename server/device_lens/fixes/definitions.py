"""What a file defines, remembered for the versions of it that are looked at now: every finding
asks."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache

from device_lens.syntax import keeping, sharing
from device_lens.syntax.source import SourceFile


@lru_cache(maxsize=8)
def definitions_of(source: SourceFile) -> sharing.Definitions:
    """The functions, classes and callable objects of a file."""
    return sharing.definitions([each for chunk in source.chunks for each in chunk.body])


@lru_cache(maxsize=8)
def functions_of(source: SourceFile) -> keeping.Functions:
    """The functions and methods of a file, those of one name together."""
    return keeping.functions_of(each for chunk in source.chunks for each in chunk.body)


@lru_cache(maxsize=8)
def classes_of(source: SourceFile) -> Mapping[str, ast.ClassDef]:
    """The classes at the top level of a file."""
    top = (each for chunk in source.chunks for each in chunk.body)
    return {each.name: each for each in top if isinstance(each, ast.ClassDef)}
