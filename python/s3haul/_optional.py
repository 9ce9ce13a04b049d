"""Packages that are used if they are there."""

from __future__ import annotations

import importlib
from typing import Any


def package(name: str, purpose: str) -> Any:
    """Imports a package.

    Raises:
        ImportError: It is missing; the message names what to install.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        install = name.partition(".")[0]
        message = f"{purpose} needs the package `{install}`: pip install {install}"
        raise ImportError(message, name=name) from error
