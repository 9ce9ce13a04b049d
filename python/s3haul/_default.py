"""The client whose methods are the functions of the package."""

from __future__ import annotations

from ._client import Client

client = Client()
