"""The command `s3haul`."""

from __future__ import annotations

import os
import signal
import sys

from . import _s3haul


def main() -> None:
    """Runs the command line of this process and ends it with the exit code."""
    # Python's handler would wait until the command has ended, and raise an exception then.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # What `job run --ray` runs.
    os.environ.setdefault("S3HAUL_PYTHON", sys.executable)
    sys.exit(_s3haul.main(["s3haul", *sys.argv[1:]]))
