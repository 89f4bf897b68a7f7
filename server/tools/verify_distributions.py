"""Checks the models of `torch.distributions` against PyTorch: where parameters that are apart meet.

    PYTHONPATH=server python server/tools/verify_distributions.py [--emulation FOLDER] [NAME...]

Makes every distribution from every placement of its parameters on the host and an accelerator,
with and without dimensions, draws, asks for densities and statistics, and compares devices and
errors with what the model says. `--emulation` names a folder with a module `fakecuda` that emulates
CUDA in a CPU build; without it a real accelerator is needed.
"""

from __future__ import annotations

import sys

from model_check.command import options_of, parser_of


def main(argv: list[str]) -> int:
    options = options_of(parser_of(__doc__, "distributions"), argv)
    from model_check import distributions

    return distributions.run(options.names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
