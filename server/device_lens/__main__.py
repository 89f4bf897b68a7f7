"""`python -m device_lens`: the command line."""

import sys

from device_lens.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
