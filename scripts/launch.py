"""Starts the server from inside the packed extension, with the libraries that it carries first.

Run as `python -I -S launch.py serve --stdio`: isolated, and without the site-packages of whichever
Python it is, so that no package, `.pth` file or variable of the user's can stand before what the
extension brings.
"""

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "server"), str(HERE / "libs")]
runpy.run_module("device_lens", run_name="__main__", alter_sys=True)
