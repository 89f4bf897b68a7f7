"""Measures transfers and operations with the user's own PyTorch, one request at a time.

Run as a script by the interpreter that the user selected (Python 3.7 or newer, torch 1.12 or
newer); imported by nobody. Requests and answers are JSON lines over stdin and stdout; what torch
or a driver prints goes to stderr. A request holds only numbers and names from the fixed sets below.

Method, in the manner of triton's `do_bench` and `torch.utils.benchmark`: warm up, repeat within a
time budget, report the median with the 20th and 80th percentile. Neither tool is called: `do_bench`
keeps the queue full and so hides the latency that small transfers consist of, and `Timer` sets
torch to one thread. Inputs rotate through more memory than caches hold, results are allocated
anew as in the user's own line, and each repetition ends when the device is done.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import platform
import queue
import re
import sys
import threading
import time
from typing import Any, Callable  # noqa: UP035

ROTATED_BYTES = 128 << 20  # inputs rotate through this much, more than processor caches hold
MOST_BUFFERS, LARGEST_BYTES, LONGEST_BUDGET_MS, LONGEST_LINE = 512, 1 << 40, 5000, 1 << 16
LEAST_SAMPLES, MOST_SAMPLES = 5, 2000
WIDE_SPREAD = 0.5  # (p80 - p20) / p50 above which a median says little
BUSY_PERCENT = 10
OWN_ECHO_SECONDS = 2.0  # NVML's utilization looks back this long, and would see our own work
DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64")

# name: (operands, how many of them a transfer moves)
OPERATIONS = {
    "matmul": (2, 2), "linear": (2, 1), "conv2d": (2, 1), "add": (2, 2), "mul": (2, 2),
    "relu": (1, 1), "exp": (1, 1), "sigmoid": (1, 1), "tanh": (1, 1), "gelu": (1, 1),
    "softmax": (1, 1), "layer_norm": (1, 1), "sum": (1, 1), "mean": (1, 1),
}  # fmt: skip


class Problem(Exception):
    """A request cannot be measured: one of the codes that the supervisor knows, and a detail."""


def plain(text: Any, most: int = 100) -> str:
    """Letters, digits and plain punctuation only: safe to show wherever it ends up."""
    return re.sub(r"[^A-Za-z0-9 ._+/@()-]+", " ", str(text)).strip()[:most].strip()


def integer(value: Any, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise Problem("invalid-request")
    return value


def one_of(value: Any, names: Any) -> Any:
    if type(value) is not str or value not in names:
        raise Problem("invalid-request")
    return value


def nvml_library() -> Any:
    """NVIDIA's management library, None where there is none."""
    try:
        library = ctypes.CDLL("nvml.dll" if os.name == "nt" else "libnvidia-ml.so.1")
        return library if library.nvmlInit_v2() == 0 else None
    except (OSError, AttributeError):
        return None


def nvml_driver(nvml: Any) -> str:
    text = ctypes.create_string_buffer(96)
    known = nvml is not None and nvml.nvmlSystemGetDriverVersion(text, 96) == 0
    return text.value.decode("ascii", "replace") if known else "unknown"


def nvml_utilization(nvml: Any, uuid: str) -> int:
    """Percent of the last moments in which the GPU was at work, 0 where not known."""
    handle, rates, name = ctypes.c_void_p(), (ctypes.c_uint * 2)(), ("GPU-" + uuid).encode()
    if nvml is None or nvml.nvmlDeviceGetHandleByUUID(name, ctypes.byref(handle)) != 0:
        return 0
    return int(rates[0]) if nvml.nvmlDeviceGetUtilizationRates(handle, rates) == 0 else 0


class Machine:
    """The devices that this torch can use, their free memory, and what keeps others away."""

    def __init__(self, torch: Any) -> None:
        self.torch, self.nvml = torch, nvml_library()
        self.problem, self.detail = None, ""
        self.devices: list[dict[str, Any]] = []
        self.last_work = -OWN_ECHO_SECONDS
        processor = system_value("/proc/cpuinfo", "model name") or platform.processor()
        self._add("cpu", processor, platform.release(), host_memory())
        self._find_cuda()
        self._find_others()
        if len(self.devices) > 1:
            self.problem = None

    def _add(self, device: str, name: Any, driver: Any, total: int) -> None:
        name, driver = plain(name) or "unknown", plain(driver) or "unknown"
        known = {"device": device, "name": name, "driver": driver, "bytes": int(total)}
        self.devices.append(known)

    def _find_cuda(self) -> None:
        cuda, hip = self.torch.cuda, getattr(self.torch.version, "hip", None)
        if not cuda.is_available():
            self.problem, self.detail = self._why_no_cuda(hip)
            return
        for index in range(cuda.device_count()):
            found = cuda.get_device_properties(index)
            driver = hip or nvml_driver(self.nvml)
            self._add(f"cuda:{index}", found.name, driver, found.total_memory)

    def _why_no_cuda(self, hip: Any) -> Any:
        has_driver = self.nvml is not None
        if self.torch.version.cuda is None and hip is None:
            return ("cpu-only-torch" if has_driver else "no-accelerator"), ""
        try:
            self.torch.cuda.init()
        except Exception as error:
            code = "driver-mismatch" if has_driver else "no-accelerator"
            old = "too old" in str(error) or "insufficient" in str(error)
            return "driver-too-old" if old else code, str(error)
        return "no-accelerator", ""

    def _find_others(self) -> None:
        xpu, mps = getattr(self.torch, "xpu", None), getattr(self.torch.backends, "mps", None)
        if xpu is not None and xpu.is_available():
            for index in range(xpu.device_count()):
                found = xpu.get_device_properties(index)
                driver = getattr(found, "driver_version", "unknown")
                self._add(f"xpu:{index}", found.name, driver, found.total_memory)
        if mps is not None and mps.is_available():
            total = getattr(getattr(self.torch, "mps", None), "recommended_max_memory", int)()
            self._add("mps", "Apple GPU", platform.mac_ver()[0], total)

    def free_bytes(self, device: str) -> int:
        kind, _, index = device.partition(":")
        module: Any = getattr(self.torch, kind, None)
        if kind in ("cuda", "xpu") and hasattr(module, "mem_get_info"):
            return int(module.mem_get_info(int(index))[0])
        if kind == "xpu":
            return int(module.get_device_properties(int(index)).total_memory)
        return host_memory()

    def device(self, name: Any) -> str:
        """`name`, if it is one of this machine's devices."""
        if type(name) is str and any(known["device"] == name for known in self.devices):
            return name
        raise Problem(self.problem or "no-such-device", self.detail)

    def is_busy(self, device: str) -> bool:
        """Whether others keep a CUDA device at work; false where that cannot be known."""
        if not device.startswith("cuda") or time.monotonic() - self.last_work < OWN_ECHO_SECONDS:
            return False
        found = self.torch.cuda.get_device_properties(int(device[5:]))
        return nvml_utilization(self.nvml, str(getattr(found, "uuid", ""))) >= BUSY_PERCENT

    def rest(self) -> None:
        """Gives unused memory back to the devices."""
        self.last_work = time.monotonic()
        for module in (self.torch.cuda, getattr(self.torch, "xpu", None)):
            try:
                if module is not None and module.is_available() and module.is_initialized():
                    module.empty_cache()
            except RuntimeError:
                pass  # a lost device has nothing to give back


def system_value(path: str, key: str) -> str:
    """The value of a line `key: value` in one of Linux' system files, empty where there is none."""
    try:
        with open(path) as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith(key))
    except (OSError, StopIteration):
        return ""


def host_memory() -> int:
    """Bytes of host memory that are free, where that is known; else those of a small machine."""
    available = system_value("/proc/meminfo", "MemAvailable")
    return int(available.split()[0]) * 1024 if available else 4 << 30


class Clock:
    """Times calls on one device in microseconds: by its events where it has them, else outside."""

    def __init__(self, torch: Any, device: str) -> None:
        kind, _, index = device.partition(":")
        module: Any = getattr(torch, kind, None)
        self.events: Any = None
        self.on_host = kind == "cpu"
        self.synchronize = getattr(module, "synchronize", None) or (lambda: None)
        if kind == "mps" and module is None:  # torch before 2.0: reading a value waits
            self.synchronize = lambda: torch.zeros(1, device="mps").cpu()
        if kind in ("cuda", "xpu"):
            module.set_device(int(index))
            events = [module.Event(enable_timing=True) for _ in range(2)]
            self.events = events if hasattr(events[0], "elapsed_time") else None

    def __call__(self, run: Callable[[int], Any], first: int, count: int) -> tuple[float, float]:
        """Time of one call, and how long it kept the host, averaged over `count` calls."""
        if self.events:
            self.events[0].record()
        start = time.perf_counter()
        for turn in range(first, first + count):
            run(turn)
        returned = time.perf_counter()
        if self.events:
            self.events[1].record()
        if not self.on_host:
            self.synchronize()
        elapsed = (time.perf_counter() - start) * 1e6
        if self.events:
            elapsed = self.events[0].elapsed_time(self.events[1]) * 1e3
        return elapsed / count, (returned - start) * 1e6 / count


def measure(run: Callable[[int], Any], clock: Clock, budget_ms: int) -> dict[str, Any]:
    """Percentiles of `run(turn)` in microseconds, with what speaks against trusting them."""
    begin = time.perf_counter()
    fastest, turn, spent = clock(run, 0, 1)[0], 1, 0.0
    while spent < budget_ms and (turn < 3 or spent < budget_ms / 4):  # warm-up
        fastest, turn = min(fastest, clock(run, turn, 1)[0]), turn + 1
        spent = (time.perf_counter() - begin) * 1e3
    count = min(100, max(1, int(20 / max(fastest, 0.1)))) if clock.on_host else 1
    samples: list[tuple[float, float]] = []
    begin, spent = time.perf_counter(), 0.0
    while spent < budget_ms or (len(samples) < LEAST_SAMPLES and spent < 4 * budget_ms):
        samples.append(clock(run, turn, count))
        turn += count
        spent = (time.perf_counter() - begin) * 1e3
        if len(samples) == MOST_SAMPLES:
            break
    times, hosts = sorted(each[0] for each in samples), sorted(each[1] for each in samples)
    p20, p50, p80 = (max(times[int(q * (len(times) - 1) + 0.5)], 1e-3) for q in (0.2, 0.5, 0.8))
    warnings = ["few-samples"] * (len(samples) < LEAST_SAMPLES)
    warnings += ["wide-spread"] * (p80 - p20 > WIDE_SPREAD * p50)
    host = max(hosts[len(hosts) // 2], 1e-3)
    return {"p20": p20, "p50": p50, "p80": p80, "host": host, "samples": len(samples),
            "warnings": warnings}  # fmt: skip


def measure_transfer(
    machine: Machine, source: Any, target: Any, size: Any, memory: Any, later: Any, budget_ms: Any
) -> dict[str, Any]:
    """Times `.to(target)` on `size` bytes; `later` is its `non_blocking`, as 0 or 1."""
    torch, size = machine.torch, integer(size, 1, LARGEST_BYTES)
    source, target = machine.device(source), machine.device(target)
    pinned = one_of(memory, ("pageable", "pinned")) == "pinned"
    later, budget = bool(integer(later, 0, 1)), integer(budget_ms, 1, LONGEST_BUDGET_MS)
    limit = min(machine.free_bytes(source), machine.free_bytes(target)) // 4
    limit -= size if source == target else 0  # the result lies there too
    count = min(MOST_BUFFERS, max(1, ROTATED_BYTES // size), limit // size)
    if count < 1:
        raise Problem("too-large")
    end = source if source != "cpu" else target
    clock, busy = Clock(torch, end), machine.is_busy(end)
    apart = -(-max(size, min(limit, ROTATED_BYTES) // count) // 256) * 256

    def buffers(device: str) -> list[Any]:
        locked = pinned and device == "cpu" and end != "cpu"
        pool = torch.empty(apart * count, dtype=torch.uint8, device=device, pin_memory=locked)
        return [part[:size].fill_(1) for part in pool.split(apart)]

    sources = buffers(source)
    results = buffers(target) if pinned and target == "cpu" else []

    def run(turn: int) -> Any:
        if results:  # a blocking `.to("cpu")` always returns pageable memory
            return results[turn % count].copy_(sources[turn % count], non_blocking=later)
        if source == target:
            return sources[turn % count].clone()
        return sources[turn % count].to(target, non_blocking=later)

    timing = measure(run, clock, budget)
    timing["warnings"] += ["device-busy"] * busy
    return {"timing": timing}


def callable_of(torch: Any, name: str, stride: int, padding: int) -> Any:
    functional = torch.nn.functional
    if name == "conv2d":
        return lambda x, weight: functional.conv2d(
            x, weight, stride=stride, padding=padding, groups=x.shape[1] // weight.shape[1]
        )
    if name == "layer_norm":
        return lambda x: functional.layer_norm(x, x.shape[-1:])
    if name == "softmax":
        return lambda x: torch.softmax(x, -1)
    return getattr(functional if name in ("linear", "gelu") else torch, name)


def measure_operation(
    machine: Machine, operation: Any, shapes: Any, dtype: Any, device: Any, needed: Any,
    stride: Any, padding: Any, budget_ms: Any,
) -> dict[str, Any]:  # fmt: skip
    """Times an operation on the CPU, on `device`, and there with its inputs' transfer.

    `needed` is how many bytes the operands and the result take together.
    """
    torch, (arity, moved) = machine.torch, OPERATIONS[one_of(operation, OPERATIONS)]
    shapes = [[integer(each, 1, LARGEST_BYTES) for each in shape] for shape in shapes]
    if len(shapes) != arity:
        raise Problem("invalid-request")
    dtype, device = getattr(torch, one_of(dtype, DTYPES)), machine.device(device)
    stride, padding = integer(stride, 1, 64), integer(padding, 0, 64)
    call, needed = callable_of(torch, operation, stride, padding), integer(needed, 1, LARGEST_BYTES)
    budget = integer(budget_ms, 1, LONGEST_BUDGET_MS)
    limit = min(machine.free_bytes("cpu"), machine.free_bytes(device)) // 8
    count = min(16, max(1, ROTATED_BYTES // 4 // needed), limit // needed)
    if count < 1:
        raise Problem("too-large")
    with torch.no_grad():
        near = [[(torch.rand(x) * 2 - 1).to(dtype) for x in shapes] for _ in range(count)]
        answer = {"cpu": measure(lambda i: call(*near[i % count]), Clock(torch, "cpu"), budget)}
        if device == "cpu":
            return answer
        clock, busy = Clock(torch, device), machine.is_busy(device)
        far = [[each.to(device) for each in inputs] for inputs in near]

        def moving(turn: int) -> Any:
            inputs = [each.to(device) for each in near[turn % count][:moved]]
            return call(*inputs, *far[turn % count][moved:])

        answer["accelerator"] = measure(lambda i: call(*far[i % count]), clock, budget)
        answer["with_transfer"] = measure(moving, clock, budget)
        answer["accelerator"]["warnings"] += ["device-busy"] * busy
    return answer


def code_of(error: Exception) -> str:
    text = str(error).lower()
    if isinstance(error, MemoryError) or "out of memory" in text or "allocate memory" in text:
        return "out-of-memory"
    lost = re.search(r"(cuda|hip|cudnn|cublas|xpu|driver) ?error|device-side|gpu is lost", text)
    return "device-lost" if lost else "unsupported"


def answer_to(machine: Machine, line: bytes) -> dict[str, Any]:
    """The answer to one request; every failure is an answer with a problem's code."""
    identity = -1
    try:
        request = json.loads(line)
        identity = integer(request.pop("id"), 0, 1 << 53)
        kinds = {"transfer": measure_transfer, "operation": measure_operation}
        run: Any = kinds[one_of(request.pop("kind"), kinds)]
        return dict(run(machine, **request), id=identity)
    except Problem as problem:
        code, *details = problem.args
        return {"id": identity, "problem": code, "detail": plain(" ".join(details), 300)}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        return {"id": identity, "problem": "invalid-request", "detail": plain(error, 300)}
    except Exception as error:
        return {"id": identity, "problem": code_of(error), "detail": plain(error, 300)}


def read_requests(requests: queue.Queue[bytes | None]) -> None:
    """Passes lines on; when the supervisor is gone, ends the process even if torch hangs."""
    for line in iter(lambda: sys.stdin.buffer.readline(LONGEST_LINE), b""):
        requests.put(line)
    requests.put(None)
    time.sleep(10)
    os._exit(1)


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb", 0)
    os.dup2(2, 1)  # what libraries print joins the errors
    sys.stdout = sys.stderr
    here = os.path.dirname(os.path.realpath(__file__))  # nothing there is for torch to import
    sys.path[:] = [each for each in sys.path if os.path.realpath(each or ".") != here]

    def say(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message).encode("ascii") + b"\n")

    requests: queue.Queue[bytes | None] = queue.Queue()
    threading.Thread(target=read_requests, args=(requests,), daemon=True).start()
    try:
        torch = importlib.import_module("torch")
        machine = Machine(torch)
    except Exception as error:
        missing = isinstance(error, ImportError) and error.name == "torch"
        code = "no-torch" if missing else "torch-broken"
        say({"problem": code, "detail": plain(error, 300)})
        return
    say({"torch": plain(torch.__version__), "devices": machine.devices,
         "problem": machine.problem, "detail": plain(machine.detail, 300)})  # fmt: skip
    for line in iter(requests.get, None):
        answer = answer_to(machine, line)
        machine.rest()
        say(answer)


if __name__ == "__main__":
    main()
