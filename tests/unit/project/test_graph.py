"""Who imports whom."""

from __future__ import annotations

from pathlib import Path

from device_lens.project.graph import ModuleGraph
from device_lens.project.imports import ImportResolver
from device_lens.project.outline import outline_of
from device_lens.syntax.import_statements import Import, imports_of
from device_lens.syntax.source import parse

FILES = {
    "train.py": (
        "from pkg import Net\nfrom pkg.data import load\nif __name__ == '__main__':\n    main()\n"
    ),
    "pkg/__init__.py": "from .net import Net\n",
    "pkg/net.py": "import torch.nn as nn\n\ndef f():\n    from . import data\n",
    "pkg/data.py": "import numpy\nfrom .net import *\n",
    "tool.py": "import sys\nprint(sys.argv)\n",
    "plain.py": "import os\nX = 1\n",
}


def _graph(root: Path) -> ModuleGraph:
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    graph = ModuleGraph(ImportResolver(str(root)).resolve)
    for name, text in FILES.items():
        graph.update(str(root / name), outline_of(parse(str(root / name), text)))
    return graph


def _names(root: Path, paths: object) -> set[str]:
    assert isinstance(paths, (tuple, frozenset))
    return {str(Path(path).relative_to(root)) for path in paths}


def test_imports_and_importers(tmp_path: Path) -> None:
    graph = _graph(tmp_path)
    train, net = str(tmp_path / "train.py"), str(tmp_path / "pkg/net.py")
    assert _names(tmp_path, graph.imports_of(train)) == {"pkg/__init__.py", "pkg/data.py"}
    assert _names(tmp_path, graph.importers_of(net)) == {
        "pkg/__init__.py", "pkg/data.py", "train.py",
    }  # fmt: skip
    assert len(graph.importers_of(net, most=1)) == 1
    assert graph.importers_of(train) == ()
    assert graph.importers_of("elsewhere.py") == ()


def test_what_can_reach_a_library(tmp_path: Path) -> None:
    graph = _graph(tmp_path)
    assert _names(tmp_path, graph.reaching(frozenset({"torch"}))) == {
        "pkg/net.py", "pkg/__init__.py", "pkg/data.py", "train.py",
    }  # fmt: skip
    assert graph.reaching(frozenset({"jax"})) == frozenset()


def test_entry_scripts(tmp_path: Path) -> None:
    assert _names(tmp_path, _graph(tmp_path).entry_scripts()) == {"train.py", "tool.py"}


def test_what_defines_nothing_and_calls_is_run(tmp_path: Path) -> None:
    texts = {
        "run.py": "from net import Net\nout = Net()(1)\n",
        "config.py": "size = 3\n",
        "lib.py": "import x\nlogger = x.log()\ndef f():\n    pass\n",
    }
    found = {name: outline_of(parse(name, text)).does_something for name, text in texts.items()}
    assert found == {"run.py": True, "config.py": False, "lib.py": False}


def test_a_guard_may_ask_for_more() -> None:
    guard = "def main():\n    pass\nif {} and x > 1:\n    main()\n"
    asks, never = (guard.format(f'{name} == "__main__"') for name in ("__name__", "name"))
    assert outline_of(parse("run.py", asks)).has_main
    assert not outline_of(parse("lib.py", never)).has_main


def test_an_edit_changes_the_edges(tmp_path: Path) -> None:
    graph = _graph(tmp_path)
    tool, plain = str(tmp_path / "tool.py"), str(tmp_path / "plain.py")
    assert graph.update(tool, outline_of(parse(tool, "import plain\nprint()\n")))
    assert graph.importers_of(plain) == (tool,)
    assert not graph.update(tool, outline_of(parse(tool, "import plain\nprint(1)\n")))
    assert graph.update(tool, outline_of(parse(tool, "print(1)\n")))
    assert graph.importers_of(plain) == ()
    graph.remove(tool)
    graph.remove(tool)
    assert tool not in graph.files()


def test_imports_anywhere_in_a_file() -> None:
    text = (
        "import a.b, c as d\n"
        "try:\n    from .e import f as g\nexcept ImportError:\n    from .. import h\n"
        "class A:\n    def m(self):\n        if x:\n            import i\n"
        "match x:\n    case 1:\n        import j\n"
    )
    assert list(imports_of(parse("a.py", text))) == [
        Import("a.b", 0), Import("c", 0), Import("e", 1, ("f",)), Import("", 2, ("h",)),
        Import("i", 0), Import("j", 0),
    ]  # fmt: skip
