"""The collector while a batch runs: it rests, is restored, and is asked once much is new."""

from __future__ import annotations

import gc
import weakref

import pytest

from device_lens.cli import garbage


class Node:
    """Refers to itself, so that only the collector frees it."""

    def __init__(self) -> None:
        self.itself = self


def test_the_collector_rests_and_is_restored_whatever_happens() -> None:
    assert gc.isenabled()
    resting = True

    @garbage.put_off()
    def fail() -> None:
        nonlocal resting
        resting = not gc.isenabled()
        raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert resting
    assert gc.isenabled()


def test_one_that_rested_before_goes_on_resting() -> None:
    with garbage.put_off():
        with garbage.put_off():
            pass
        assert not gc.isenabled()


def test_cycles_go_once_much_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    with garbage.put_off():
        gc.collect()
        lost = weakref.ref(Node())
        garbage.collect_if_due()
        assert lost() is not None
        monkeypatch.setattr(garbage, "MOST_NEW", 0)
        garbage.collect_if_due()
        assert lost() is None
    gc.unfreeze()
