"""Device trees in words: the primary case, what it rests on, and the others."""

from __future__ import annotations

from device_lens.domain.atom import Atom
from device_lens.domain.device import ANY_INDEX, CPU, UNKNOWN_DEVICE, Device, SymbolicDevice
from device_lens.domain.guard import Guarded
from device_lens.ide.cases import Alternative, Cases, read

CUDA = Device("cuda", 0)
FLAG = Atom("args.cuda", "flag", False)
AVAILABLE = Atom("torch.cuda.is_available()", "accelerator", True)
PATH = Atom("", "path")
NOT_AVAILABLE = "not torch.cuda.is_available()"


def test_a_device_without_conditions() -> None:
    assert read(CUDA) == Cases("cuda:0", None, ())
    assert read(UNKNOWN_DEVICE) == Cases(None, None, ())


def test_a_symbol_is_no_device_but_has_a_name() -> None:
    assert read(SymbolicDevice("x")) == Cases(None, None, (), "x")


def test_availability_is_the_primary_case() -> None:
    found = read(Guarded(AVAILABLE, CUDA, CPU))
    assert found.device == "cuda:0"
    assert found.condition == "torch.cuda.is_available()"
    assert found.alternatives == (Alternative(NOT_AVAILABLE, "cpu", is_rest=True),)


def test_a_flag_has_its_default() -> None:
    found = read(Guarded(FLAG, CUDA, CPU))
    assert (found.device, found.condition) == ("cpu", "not args.cuda")
    assert found.alternatives == (Alternative("args.cuda", "cuda:0", is_rest=True),)


def test_two_conditions_are_joined() -> None:
    found = read(Guarded(FLAG, Guarded(AVAILABLE, CUDA, CPU), CPU))
    assert found.device == "cpu"
    assert found.alternatives == (
        Alternative("args.cuda and torch.cuda.is_available()", "cuda:0"),
        Alternative(f"args.cuda and {NOT_AVAILABLE}", "cpu"),
    )


def test_a_path_without_words_makes_it_unknown() -> None:
    assert read(Guarded(PATH, CUDA, CPU)) == Cases(None, None, ())


def test_a_path_that_makes_no_difference_in_the_primary_case() -> None:
    found = read(Guarded(AVAILABLE, CUDA, Guarded(PATH, CPU, Device("meta"))))
    assert found.device == "cuda:0"
    assert found.alternatives == (Alternative(NOT_AVAILABLE, None, is_rest=True),)


def test_a_case_that_decides_nothing_is_not_told() -> None:
    either = Atom("args.many", "flag", False)
    found = read(Guarded(either, Guarded(FLAG, CUDA, CPU), Guarded(FLAG, CUDA, UNKNOWN_DEVICE)))
    assert found.alternatives == (
        Alternative("args.cuda", "cuda:0"),
        Alternative("args.many and not args.cuda", "cpu"),
    )


def test_devices_that_read_alike_are_no_cases() -> None:
    some_number = Device("cuda", None)
    current = Device("cuda", ANY_INDEX)
    assert str(some_number) == str(current)
    assert read(Guarded(FLAG, some_number, current)) == Cases("cuda", None, ())
