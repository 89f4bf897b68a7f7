"""A project: knowledge flows from callers, configuration counts, fixes are checked."""

from __future__ import annotations

import ast
from pathlib import Path
from types import MappingProxyType

import pytest
from ide_programs import QUIET

from device_lens.ide.callers import find_callers
from device_lens.ide.fix_all import Apply
from device_lens.ide.fixing import fix_files
from device_lens.ide.project import Project, Unreadable
from device_lens.interpreter.budget import Cancelled
from device_lens.interpreter.graph_flow import Fate, fate
from device_lens.project.files import FileStore, ParseCache, Snapshot
from device_lens.syntax.notebook import NotebookSource

NET = "def move(x, device):\n    y = x.to(device)\n    return y\n"
TRAIN = "import torch\nfrom net import move\n\nmove(torch.ones(3), 'cuda:1')\n"


def project(folder: Path, **files: str) -> Project:
    (folder / "pyproject.toml").write_text(QUIET, encoding="utf-8")
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return Project(str(folder))


def device_of(found: Project, path: Path, text: str, snapshot: Snapshot | None = None) -> str:
    analysis = found.analyse(str(path), snapshot)
    source = analysis.facts.source
    for expression in analysis.facts.expressions:
        where = source.range(expression.site.chunk, expression.site.node)
        if source.text_of(where) == text:
            return str(expression.device)
    return "nothing"


def test_a_caller_tells_where_things_are(tmp_path: Path) -> None:
    found = project(tmp_path, net=NET, train=TRAIN)
    found.index([str(tmp_path / "train.py")])
    assert device_of(found, tmp_path / "net.py", "y") == "cuda:1"


def test_open_documents_count_before_the_disk(tmp_path: Path) -> None:
    found = project(tmp_path, net=NET, train=TRAIN)
    store = FileStore()
    store.open(str(tmp_path / "train.py"), 1, TRAIN.replace("cuda:1", "cuda:0"))
    found.index([str(tmp_path / "train.py")], store.snapshot())
    assert device_of(found, tmp_path / "net.py", "y", store.snapshot()) == "cuda:0"


def test_callers_are_found_without_parsing_everything(tmp_path: Path) -> None:
    names = {f"other{number}": "import os\n" for number in range(5)}
    found = project(tmp_path, net=NET, middle="import net\n", top="import middle\n", **names)
    indexed: list[str] = []

    def index(paths: object) -> None:
        listed = list(paths)  # type: ignore[call-overload]
        indexed.extend(listed)
        found.index(listed)

    files = sorted(map(str, tmp_path.glob("*.py")))
    callers = find_callers([str(tmp_path / "net.py")], files, index, found._graph.importers_of)
    assert callers == {str(tmp_path / "middle.py"), str(tmp_path / "top.py")}
    assert not any("other" in path for path in indexed)


LIBRARY = """\
import torch


def first(x: torch.Tensor):
    return x


def second(x: torch.Tensor):
    x.to("cpu")
    return x
"""


def test_places_are_right_whatever_is_parsed_in_between(tmp_path: Path) -> None:
    """The cache lets go of files that modules which have run still hold."""
    names = ("library", "other", "third", "main")
    run = "\n\nif __name__ == '__main__':\n    second(torch.ones(2))\n"
    files = dict.fromkeys(names, LIBRARY) | {"main": LIBRARY + run}
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    found = Project(str(tmp_path), parsed=ParseCache(most_lines=20))
    paths = [str(tmp_path / f"{name}.py") for name in names]
    found.analyse_together(paths)
    for path in (*reversed(paths), *paths):
        (analysis,) = found.analyse_together([path])
        lines = [each.range.start.line for each in analysis.findings]
        assert lines == [8]


VISIBLE = """\
import os

import torch

os.environ["CUDA_VISIBLE_DEVICES"] = "0"
x = torch.zeros(3, device="cuda")
"""
USES_DEFAULT = """\
import torch

x = torch.zeros(3, device="cuda")


def total(y):
    return (x + torch.zeros(3) + y).sum()
"""


def test_what_one_file_does_to_the_process_is_not_for_the_next(tmp_path: Path) -> None:
    files = {
        "a_first": VISIBLE,
        "b_second": VISIBLE,
        "c_settings": "import torch\n\ntorch.set_default_device('cuda')\n",
        "d_default": f"import c_settings\n{USES_DEFAULT}",
        "e_plain": USES_DEFAULT,
    }
    found = project(tmp_path, **files)
    analyses = found.analyse_together([str(tmp_path / f"{name}.py") for name in files])
    rules = {
        Path(analysis.facts.path).stem: [
            each.rule for each in analysis.findings if each.rule != "hardcoded-device"
        ]
        for analysis in analyses
    }
    silent: dict[str, list[str]] = {name: [] for name in files}
    assert rules == silent | {"e_plain": ["created-on-default-device"]}


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="no such file"):
        project(tmp_path).analyse(str(tmp_path / "absent.py"))


def test_editor_settings_give_way_to_the_projects(tmp_path: Path) -> None:
    text = "import torch\n\nx = torch.ones(2)\nx.to('cuda')\n"
    project(tmp_path, main=text)
    editor = {"ignore": ["discarded-transfer"], "no-such-key": 1}
    found = Project(str(tmp_path), editor)
    analysis = found.analyse(str(tmp_path / "main.py"))
    assert analysis.findings == ()
    assert any("no-such-key" in limit for limit in analysis.limits)
    (tmp_path / "pyproject.toml").write_text(f"{QUIET}ignore = []\n", encoding="utf-8")
    analysis = Project(str(tmp_path), editor).analyse(str(tmp_path / "main.py"))
    assert [finding.rule for finding in analysis.findings] == ["discarded-transfer"]


def test_safe_fixes_are_applied_until_none_is_left(tmp_path: Path) -> None:
    text = "import torch\n\nx = torch.rand(2)\nx.to('cuda')\ny = torch.rand(2)\ny.to('cuda')\n"
    found = project(tmp_path, main=text)
    path = str(tmp_path / "main.py")
    fixed = fix_files(found, [path], Snapshot(), Apply.SAFE)
    assert fixed.contents[path] == text.replace("x.to", "x = x.to").replace("y.to", "y = y.to")
    assert len(fixed.applied) == 2
    assert fixed.remaining == ()
    assert (tmp_path / "main.py").read_text(encoding="utf-8") == text


def test_a_notebooks_cells_are_fixed_and_keep_their_magics(tmp_path: Path) -> None:
    found = project(tmp_path)
    path = str(tmp_path / "book.ipynb")
    store = FileStore()
    cells = ["%pip install x\nimport torch", None, "x = torch.rand(2)\nx.to('cuda')", "!ls\nx"]
    store.put_notebook(path, 1, cells)
    fixed = fix_files(found, [path], Snapshot(MappingProxyType(dict(store.snapshot().documents))))
    content = fixed.contents[path]
    assert isinstance(content, NotebookSource)
    assert {cell.number: cell.text for cell in content.cells} == {
        0: "%pip install x\nimport torch",
        2: "x = torch.rand(2)\nx = x.to('cuda')\nx",
        3: "!ls\nx",
    }


def test_callers_that_do_not_run_first_are_told(tmp_path: Path) -> None:
    script = "from net import f\n\nf(1)\n"
    names = [f"run{number}" for number in range(4)]
    found = project(tmp_path, net="def f(x):\n    return x\n", **dict.fromkeys(names, script))
    path = str(tmp_path / "net.py")
    found.index(map(str, tmp_path.glob("*.py")))
    found.most_callers = 4
    assert found.analyse(path).left_out == ()
    found.most_callers = 3
    sentence = "only the nearest 3 of 4 scripts that use it count"
    assert found.analyse(path).left_out == (sentence,)


def test_of_those_that_were_looked_through_for_callers_no_parse_is_kept(tmp_path: Path) -> None:
    found = project(
        tmp_path,
        net="def f(x):\n    return x\n",
        run="from net import f\n\nif __name__ == '__main__':\n    f(1)\n",
        other="import net\n",
    )
    path, run = str(tmp_path / "net.py"), str(tmp_path / "run.py")
    found.analyse(path)
    found.index_callers([path], [run, str(tmp_path / "other.py")])
    assert found.callers(path) == (run,)
    assert [each for each in tmp_path.glob("*.py") if found._cache.holds(str(each))] == [
        tmp_path / "net.py"
    ]


def test_what_chooses_among_the_files_of_a_folder_calls_each(tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "small.py").write_text("def f(x):\n    return x\n")
    run = "from importlib import import_module\n\nimport_module('nets.' + input()).f(1)\n"
    found = project(tmp_path, run=run, other="nets = 1\n")
    path = str(tmp_path / "nets" / "small.py")
    found.index_callers([path], [str(tmp_path / "run.py"), str(tmp_path / "other.py")])
    assert found.callers(path) == (str(tmp_path / "run.py"),)


def test_however_deep_a_sum_is_it_is_followed() -> None:
    deep = ast.parse(" + ".join(["x"] * 500) + " + y").body
    assert fate([ast.Return(deep[0].value)], {"y"}, frozenset()) == Fate.RETURNED  # type: ignore[attr-defined]
    assert fate([ast.Return(deep[0].value)], {"z"}, frozenset()) == Fate.NOTHING  # type: ignore[attr-defined]


def test_each_of_many_callers_counts(tmp_path: Path) -> None:
    last = TRAIN.replace("cuda:1", "cpu")
    found = project(tmp_path, net=NET, zuletzt=last, **{f"train{n}": TRAIN for n in range(12)})
    net = tmp_path / "net.py"
    found.index([str(each) for each in tmp_path.glob("*.py")])
    assert device_of(found, net, "y") == "unknown"
    (tmp_path / "zuletzt.py").unlink()
    found.forget([str(tmp_path / "zuletzt.py")])
    assert device_of(found, net, "y") == "cuda:1"


def test_a_glance_looks_at_one_file_alone(tmp_path: Path) -> None:
    found = project(tmp_path, net=NET, train=TRAIN)
    path = str(tmp_path / "train.py")
    (tmp_path / "train.py").write_text(TRAIN + "kept = torch.ones(3).cuda()\n", encoding="utf-8")
    glance = found.glance(path)
    assert list(glance.all_facts) == [path]
    devices = {str(each.device) for each in glance.facts.expressions}
    assert {"cpu", "cuda"} <= devices
    assert str(tmp_path / "net.py") in found.analyse(path).all_facts


def test_a_glance_leaves_out_remarks_whatever_severity_they_are_given(tmp_path: Path) -> None:
    loop = "for i in range(9):\n    y = x.to('cuda')\n"
    found = project(tmp_path, train=f"import torch\nx = torch.ones(3)\nx.to('cuda')\n{loop}")
    settings = 'severity = {discarded-transfer = "hint", transfer-in-loop = "error"}'
    (tmp_path / "pyproject.toml").write_text(f"[tool.device-lens]\n{settings}\n", encoding="utf-8")
    path = str(tmp_path / "train.py")
    rules = {each.rule for each in found.analyse(path).findings}
    assert {"discarded-transfer", "transfer-in-loop"} <= rules
    assert [each.rule for each in found.glance(path).findings] == ["discarded-transfer"]


def test_an_analysis_that_is_late_keeps_what_has_run(tmp_path: Path) -> None:
    found = project(tmp_path, net=NET, train=TRAIN)
    path, snapshot = str(tmp_path / "train.py"), Snapshot()
    assert found.analyse_in_time(path, snapshot, lambda: False, lambda: True) is None
    whole = found.analyse_in_time(path, snapshot, lambda: False, lambda: False)
    assert whole is not None
    assert str(tmp_path / "net.py") in whole.all_facts
    with pytest.raises(Cancelled):
        found.analyse_in_time(path, Snapshot(), lambda: True, lambda: False)


def test_each_factory_that_meets_an_operation_is_kept_when_a_cell_is_added(tmp_path: Path) -> None:
    head = "import torch\nfrom torch import nn\n\n\ndef answer(net, x):\n    return net(x)\n"
    call = "net = nn.Linear(3, 3).cuda()\nanswer(net, torch.zeros(2, 3))\n"
    path, store, found = str(tmp_path / "book.ipynb"), FileStore(), project(tmp_path)
    for version, cells in enumerate(([head, call], [head, call, call])):
        store.put_notebook(path, version, cells)
        edited = found.analyse(path, store.snapshot())
    anew = project(tmp_path).analyse(path, store.snapshot())
    assert len(edited.facts.conflicts) == len(anew.facts.conflicts) == 2
