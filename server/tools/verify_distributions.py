"""Checks the models of `torch.distributions` against PyTorch: where parameters that are apart meet.

    PYTHONPATH=server python server/tools/verify_distributions.py [--emulation FOLDER] [NAME...]

Makes every distribution from every placement of its parameters on the host and an accelerator,
with and without dimensions, draws, asks for densities and statistics, and compares devices and
errors with what the model says. `--emulation` names a folder with a module `fakecuda` that emulates
CUDA in a CPU build; without it a real accelerator is needed.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only these distributions, in detail")
    parser.add_argument("--emulation", help="a folder with a module that emulates CUDA")
    options = parser.parse_args(argv)
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    if options.emulation:
        sys.path.insert(0, options.emulation)
        import fakecuda  # type: ignore[import-not-found]

        fakecuda.install(devices=2)
    warnings.simplefilter("ignore")
    from model_check import distributions

    return distributions.run(options.names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
