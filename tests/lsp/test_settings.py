"""Settings from any client: what is odd counts as not said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_lens.lsp.analyst import settings_for
from device_lens.lsp.settings import Settings, read_settings

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def test_settings_are_read() -> None:
    found = read_settings(
        {
            "run": "onSave",
            "severity": {"transfer-in-loop": "off", "x": "loud"},
            "select": None,
            "ignore": ["round-trip"],
            "hover": {"enable": False},
            "inlayHints.devices": True,
            "cost": {"threshold": 2},
        }
    )
    assert found.on_save_only
    assert found.severity == {"transfer-in-loop": "off"}
    assert found.select is None
    assert found.ignore == ("round-trip",)
    assert not found.hover
    assert found.device_hints
    assert found.threshold_ms == 2.0
    assert found.configuration() == {
        "ignore": ["round-trip"],
        "severity": {"transfer-in-loop": "off"},
    }


def test_settings_of_measuring_are_read_and_bounded() -> None:
    sent = {"trigger": "click", "hoverBudget": 1e9, "timeout": 0, "device": "cuda:1"}
    found = read_settings({"benchmark": sent, "projectInterpreter": ["py", "-3.9"]})
    assert found.benchmark_trigger == "click"
    assert found.hover_budget_ms == 5000
    assert found.benchmark_timeout_s == 1
    assert found.benchmark_device == "cuda:1"
    assert found.project_interpreter == ("py", "-3.9")


def test_odd_settings_of_measuring_are_defaults() -> None:
    sent = {"trigger": "always", "hoverBudget": -1, "timeout": "1", "device": "cuda:1; rm"}
    assert read_settings({"benchmark": sent, "projectInterpreter": []}) == Settings()


@given(JSON)
def test_anything_can_be_sent(sent: object) -> None:
    assert isinstance(read_settings(sent), Settings)


@given(st.dictionaries(st.sampled_from(["enable", "run", "severity", "select", "cost"]), JSON))
def test_odd_values_are_defaults_or_what_they_say(sent: dict[str, object]) -> None:
    found = read_settings(sent)
    assert found.enable == (sent["enable"] if isinstance(sent.get("enable"), bool) else True)
    assert all(isinstance(rule, str) for rule in found.select or ())


@pytest.mark.parametrize(
    ("path", "threshold"),
    [("/a/x.py", 1.0), ("/a/b/x.py", 2.0), ("/ab/x.py", 0.0), ("untitled:1", 0.0)],
)
def test_the_innermost_folder_decides(path: str, threshold: float) -> None:
    settings = {
        "": Settings(threshold_ms=0),
        "/a": Settings(threshold_ms=1),
        "/a/b": Settings(threshold_ms=2),
    }
    assert settings_for(path, settings).threshold_ms == threshold
