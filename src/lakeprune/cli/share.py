"""`lakeprune share`: recipients with their tokens, and signing keys, of a configuration."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence

from lakeprune.cli.output import deliver, tell
from lakeprune.cli.parser import parsed
from lakeprune.cli.serve import check_installed
from lakeprune.errors import EXIT_OK, UsageError

_WHAT = "Give recipients of a sharing server their tokens, take them back, and change the keys that URLs are signed with."
_EXAMPLES = """\
examples:
  lakeprune share key add --config shares.yaml                      a new signing key; older ones still verify
  lakeprune share recipient add analytics --config shares.yaml      prints the profile, once
  lakeprune share recipient list --config shares.yaml
  lakeprune share recipient revoke analytics --config shares.yaml

exit codes: 0 done, 2 usage or configuration error
"""
_DAY = 86_400


def run(command: str, argv: Sequence[str]) -> int:
    """One change; a server that runs sees it at once."""
    given = parsed(command, _WHAT, _EXAMPLES, argv)
    check_installed()
    action = _ACTIONS.get((given.what, given.action))
    if action is None:
        known = ", ".join(" ".join(pair) for pair in _ACTIONS)
        what = f"`{given.what} {given.action or ''}".rstrip() + "` is not an action"
        raise UsageError("LP202", what, where="lakeprune share", fix=f"the actions are: {known}")
    return action(given)


def _add(given: argparse.Namespace) -> int:
    from lakeprune.apps.sharing.server.config import read_config
    from lakeprune.apps.sharing.server.profile import profile_text
    from lakeprune.apps.sharing.server.recipients import add_token, new_token

    config, name = read_config(given.config), _name(given)
    if name not in config.recipients:
        example = f"recipients:\n  {name}:\n    shares: [{', '.join(share.name for share in config.shares)}]"
        raise UsageError("LP287", f"{given.config} grants nothing to `{name}`", fix=f"add to it:\n{example}")
    lifetime = None if given.days is None else given.days * _DAY
    token, issued = new_token(name, lifetime)
    text = profile_text(config.endpoint, token, issued.expires)
    if given.output is not None:
        _keep(text, given.output)
    add_token(str(config.tokens_path), issued)
    if given.output is None:
        deliver([text], None)
    tell(f"token {issued.id} of {name}: the profile is shown this once; only its hash is kept, in {config.tokens_path}")
    return EXIT_OK


def _keep(profile: str, path: str) -> None:
    """Write a profile for its owner alone; before its token is known, so that no token is left behind without a profile."""
    draft = f"{path}.{os.getpid()}.part"
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(profile)
        os.replace(draft, path)
    except OSError as error:
        fix = "name a writable file"
        raise UsageError("LP217", f"cannot write {path}", where="--output", why=error.strerror, fix=fix) from error


def _list(given: argparse.Namespace) -> int:
    from lakeprune.apps.sharing.server.config import read_config
    from lakeprune.apps.sharing.server.recipients import read_tokens

    config, now = read_config(given.config), time.time()
    tokens = read_tokens(str(config.tokens_path)).tokens
    lines = []
    for name, recipient in sorted(config.recipients.items()):
        lines.append(f"{name}: {', '.join(sorted(recipient.shares)) or 'no share'}")
        for each in (token for token in tokens if token.recipient == name):
            state = "revoked" if each.revoked is not None else "active" if each.is_active(now) else "expired"
            until = "" if each.expires is None else f", until {_day(each.expires)}"
            lines.append(f"  token {each.id}: {state}, since {_day(each.created)}{until}")
    deliver([f"{line}\n" for line in lines] or ["no recipients\n"], given.output)
    return EXIT_OK


def _revoke(given: argparse.Namespace) -> int:
    from lakeprune.apps.sharing.server.config import read_config
    from lakeprune.apps.sharing.server.recipients import revoke_tokens

    config, name = read_config(given.config), _name(given)
    count = revoke_tokens(str(config.tokens_path), name, given.token)
    if count == 0:
        fix = f"`lakeprune share recipient list --config {given.config}` lists tokens"
        raise UsageError("LP287", f"`{name}` has no such active token", fix=fix)
    tokens, them = ("token", "it") if count == 1 else ("tokens", "them")
    deliver([f"{name}: {count} {tokens} revoked, and every URL made with {them}\n"], None)
    return EXIT_OK


def _key(given: argparse.Namespace) -> int:
    from lakeprune.apps.sharing.server.config import keys_file
    from lakeprune.apps.sharing.server.keys import new_key

    path, line = keys_file(given.config), new_key()
    try:
        before = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                before = file.read()
        with open(os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(f"{line}\n{before}")
        os.replace(f"{path}.new", path)
    except OSError as error:
        raise UsageError("LP282", "the signing keys cannot be written", where=path, why=error.strerror) from error
    deliver([f"{path}: key {line.partition(':')[0]} signs from now on; a server that runs takes it on SIGHUP\n"], None)
    return EXIT_OK


def _name(given: argparse.Namespace) -> str:
    if not given.name:
        raise UsageError("LP202", "the recipient's name is missing", where="lakeprune share", fix="give it after the action")
    return str(given.name)


def _day(seconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


_ACTIONS: dict[tuple[str, str], Callable[[argparse.Namespace], int]] = {
    ("recipient", "add"): _add,
    ("recipient", "list"): _list,
    ("recipient", "revoke"): _revoke,
    ("key", "add"): _key,
}
