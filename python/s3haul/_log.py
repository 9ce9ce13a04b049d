"""Lines that the command would print to standard error, as records of the logger `s3haul`."""

from __future__ import annotations

import logging
import re

logger = logging.getLogger("s3haul")
# Without a handler of the program nothing is printed.
logger.addHandler(logging.NullHandler())

_ERROR = re.compile(r"(\w+:? ?(\w+ )?failed: |fatal error: |error: |s3haul: error: )")
_WARNING = re.compile(r"warning: ")


def line(text: str) -> None:
    """Logs a line: failures as errors, warnings as warnings, everything else as information."""
    text = text.strip()
    if not text:
        return
    if _ERROR.match(text):
        level = logging.ERROR
    elif _WARNING.match(text):
        level = logging.WARNING
        text = text.removeprefix("warning: ")
    else:
        level = logging.INFO
        text = text.removeprefix("note: ")
    logger.log(level, "%s", text)
