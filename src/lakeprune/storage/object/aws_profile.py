"""A named profile of the AWS files: keys, token and region, nothing that needs another tool.

In: the profile's name. Out: options as object stores name them. A profile that signs in some other way (single sign-on, a role, a
process) is refused with the command that turns it into environment variables. Values are never part of a message.
"""

from __future__ import annotations

import os
from configparser import ConfigParser
from configparser import Error as UnreadableFile

from lakeprune.errors import UsageError

_TAKEN = {
    "aws_access_key_id": "access_key_id",
    "aws_secret_access_key": "secret_access_key",
    "aws_session_token": "session_token",
    "region": "region",
    "endpoint_url": "endpoint",
}
_ELSEWHERE = ("sso_session", "sso_start_url", "role_arn", "credential_process", "web_identity_token_file", "login_session")


def profile_options(name: str, *, must_exist: bool) -> dict[str, str]:
    """What the profile says, {} when it need not exist and does not."""
    found: dict[str, str] = {}
    for section, path in (
        (name if name == "default" else f"profile {name}", _file("AWS_CONFIG_FILE", "config")),
        (name, _file("AWS_SHARED_CREDENTIALS_FILE", "credentials")),
    ):
        found.update(_section(path, section))
    options = {_TAKEN[key]: value for key, value in found.items() if key in _TAKEN and value}
    if "access_key_id" in options and "secret_access_key" in options:
        return options
    if other := next((key for key in _ELSEWHERE if key in found), None):
        fix = f'run: eval "$(aws configure export-credentials --profile {name} --format env)"'
        raise UsageError("LP233", f"profile `{name}` signs in by {other}, which is not supported here", fix=fix)
    if must_exist:
        what, where = "has no keys" if found else "does not exist", "the AWS config and credentials files"
        raise UsageError("LP233", f"profile `{name}` {what}", where=where, fix="run `aws configure list-profiles`")
    return options


def _file(variable: str, name: str) -> str:
    return os.environ.get(variable) or os.path.join(os.path.expanduser("~"), ".aws", name)


def _section(path: str, section: str) -> dict[str, str]:
    parser = ConfigParser(interpolation=None, strict=False)
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, UnreadableFile):
        fix = "check its permissions and its form"
        raise UsageError("LP233", "an AWS profile file cannot be read", where=path, fix=fix) from None
    return dict(parser[section]) if parser.has_section(section) else {}
