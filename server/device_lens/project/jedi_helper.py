"""The helper process: is a class outside the workspace a module of PyTorch, what are its bases?

Run as a script, isolated; speaks JSON lines. The first line is ``{"libraries": [...],
"search_path": [...]}``: where jedi lies, and where the project's libraries lie. Each further line
is ``{"class": "pkg.mod.Class"}`` and gets one line ``{"is_module": bool | null, "bases": [...] |
null}``. Only sources are read: nothing of the project is imported.
"""

from __future__ import annotations

import ast
import json
import sys
from typing import Any

MODULE = "torch.nn.modules.module.Module"
_MOST_DEPTH = 20
_ROOTS = ("builtins.object", "typing.Generic", "typing.Protocol", "abc.ABC")


class Classes:
    """Answers questions with jedi, class by class, each class once."""

    def __init__(self, search_path: list[str]) -> None:
        import jedi  # type: ignore[import-untyped]

        self._jedi = jedi
        self._environment = jedi.InterpreterEnvironment()
        self._project = jedi.Project(".", sys_path=search_path, smart_sys_path=False)
        self._bases: dict[str, tuple[list[str], bool]] = {}

    def ask(self, qualified_name: str) -> dict[str, Any]:
        """The reply for a class by the name under which a program knows it."""
        module = qualified_name.rpartition(".")[0]
        if not module or not all(part.isidentifier() for part in qualified_name.split(".")):
            return {"is_module": None, "bases": None}
        code = f"import {module}\n{qualified_name}"
        script = self._jedi.Script(code, project=self._project, environment=self._environment)
        definition = _class_of(script.infer(2, len(qualified_name)))
        if definition is None:
            return {"is_module": None, "bases": None}
        bases, complete = self._bases_of(definition, 0)
        if MODULE in (definition.full_name, *bases):
            return {"is_module": True, "bases": bases}
        return {"is_module": False if complete else None, "bases": bases if complete else None}

    def _bases_of(self, definition: Any, depth: int) -> tuple[list[str], bool]:
        """Qualified names of all bases, and whether all of them were found."""
        name = definition.full_name or ""
        if name == MODULE or name in _ROOTS:
            return [], True
        if name in self._bases:
            return self._bases[name]
        if depth >= _MOST_DEPTH:
            return [], False
        self._bases[name] = ([], False)
        found = self._bases[name] = self._read_bases(definition, depth)
        return found

    def _read_bases(self, definition: Any, depth: int) -> tuple[list[str], bool]:
        path, line = definition.module_path, definition.line
        if path is None or line is None:
            return [], definition.full_name.startswith("builtins.")
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        node = _class_at(text, line)
        if node is None:
            return [], False
        script = self._jedi.Script(
            text, path=path, project=self._project, environment=self._environment
        )
        names: dict[str, None] = {}
        complete = True
        for base in node.bases:
            expression = base.value if isinstance(base, ast.Subscript) else base
            found = _class_of(script.infer(expression.end_lineno, expression.end_col_offset))
            if found is None or not found.full_name:
                complete = False
                continue
            above, all_above = self._bases_of(found, depth + 1)
            names.update(dict.fromkeys([found.full_name, *above]))
            complete = complete and all_above
        return list(names), complete


def _class_of(names: list[Any]) -> Any | None:
    return next((name for name in names if name.type == "class"), None)


def _class_at(text: str, line: int) -> ast.ClassDef | None:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef) and node.lineno == line:
            return node
    return None


def main() -> None:
    """Answer questions until the input ends."""
    first = json.loads(sys.stdin.readline())
    sys.path += [path for path in first["libraries"] if path and path not in sys.path]
    classes = Classes(first["search_path"])
    for line in sys.stdin:
        try:
            reply = classes.ask(json.loads(line)["class"])
        except Exception:
            # jedi fails in many ways on odd code; to the caller all of them mean "not known".
            reply = {"is_module": None, "bases": None}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
