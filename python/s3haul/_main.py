"""The command `s3haul`."""

from __future__ import annotations

import sys

from . import _s3haul


def main() -> None:
    """Runs the command line of this process and ends it with the exit code."""
    sys.exit(_s3haul.main(["s3haul", *sys.argv[1:]]))
