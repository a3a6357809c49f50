"""The profile file that a recipient gets: where the server is, and the token.

In: endpoint and token. Out: JSON of version 1, which every client reads. It is shown once and kept nowhere.
"""

from __future__ import annotations

import time

import msgspec


def profile_text(endpoint: str, token: str, expires: int | None) -> str:
    """What a recipient saves as `name.share`."""
    about = {"shareCredentialsVersion": 1, "endpoint": endpoint, "bearerToken": token}
    if expires is not None:
        about["expirationTime"] = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(expires))
    return msgspec.json.format(msgspec.json.encode(about), indent=2).decode() + "\n"
