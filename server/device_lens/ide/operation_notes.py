"""What is said of an operation's cost: CPU against GPU against moving to the GPU."""

from __future__ import annotations

from device_lens.cost.units import format_microseconds
from device_lens.ide.markdown import join, plain, table
from device_lens.ide.operations import OperationEstimate


def own_time(estimate: OperationEstimate) -> str:
    """What it takes where it is: `≈ 2.0 µs`, or `2.3 µs measured`; empty where that is not known.

    The end of the hover's first line.
    """
    cost = estimate.cost
    if estimate.here is None:
        return ""
    if estimate.here == "cpu":
        time, source = cost.cpu_us, cost.cpu_source
    else:
        time, source = cost.accelerator_us, cost.accelerator_source
    return _time(time, source) + (" measured" if source == "measured" else "")


def operation_notes(estimate: OperationEstimate) -> str:
    """Which device is the right one, the three times, and what the numbers rest on."""
    return join([verdict(estimate), table(_columns(estimate)), _basis(estimate)])


def verdict(estimate: OperationEstimate) -> str:
    """`Stay on the CPU: moving to cuda pays from about 320 × 320.`"""
    cost, there = estimate.cost, plain(estimate.accelerator)
    if estimate.here == "accelerator":
        if cost.cpu_us < cost.accelerator_us:
            return f"Too small for {there}: the CPU is faster, if what it takes is there anyway."
        return ""
    pays = _pays(estimate)
    if cost.worth_moving:
        return f"Worth moving to {there}{pays and f': that pays {pays}'}."
    if estimate.break_even is None:
        return f"Stay on the CPU: moving to {there} for this alone does not pay at any size."
    return f"Stay on the CPU{pays and f': moving to {there} pays {pays}'}."


def _pays(estimate: OperationEstimate) -> str:
    """`from about 320 × 320`, `at any size`; empty where a measurement says otherwise."""
    even = estimate.break_even
    if even is None or (estimate.size >= even.size) != estimate.cost.worth_moving:
        return ""
    if even.size == 1:
        return "at any size"
    size = int(float(f"{even.size:.1e}"))
    if even.of == "side":
        return f"from about {size} × {size}"
    return f"from a first dimension of about {size}"


def _columns(estimate: OperationEstimate) -> list[tuple[str, str]]:
    cost, there = estimate.cost, plain(estimate.accelerator)
    at_cpu, at_there = ("cpu (here)", there) if estimate.here == "cpu" else ("cpu", there)
    if estimate.here == "accelerator":
        at_there = f"{there} (here)"
    moved = "measured" if cost.transfer_source == cost.accelerator_source == "measured" else ""
    return [
        (at_cpu, _time(cost.cpu_us, cost.cpu_source)),
        (at_there, _time(cost.accelerator_us, cost.accelerator_source)),
        (f"moved to {there} first", _time(cost.with_transfer_us, moved)),
    ]


def _time(microseconds: float, source: str) -> str:
    text = format_microseconds(microseconds)
    return text if source == "measured" else f"≈ {text}"


def _basis(estimate: OperationEstimate) -> str:
    typical = f"stimated for {plain(estimate.cost.assumption)}"
    measured = estimate.measured
    if measured is None:
        of = f", as the sum of {estimate.count} operations" if estimate.count > 1 else ""
        return f"E{typical}{of}."
    low, high = (format_microseconds(each) for each in measured.cpu_spread)
    said = f"Measured on {plain(measured.basis)}: {low} to {high} on the CPU."
    return said if measured.accelerator_us is not None else f"{said} ≈: e{typical}."
