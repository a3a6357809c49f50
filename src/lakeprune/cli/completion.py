"""Shell completion, printed from the table of flags: `lakeprune --completion bash`, `zsh` or `fish`.

In: a shell's name. Out: a script for it. Nothing of lakeprune runs when a user presses Tab: names and choices are in the script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lakeprune.cli.flags import Flag, flags_of
from lakeprune.errors import UsageError

_BASH = """\
# bash completion for lakeprune; add to ~/.bashrc:  eval "$(lakeprune --completion bash)"
_lakeprune() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{commands} --help --version" -- "$current"))
    return
  fi
  case "${{COMP_WORDS[1]}} $previous" in
{choices}
  esac
  if [[ "$current" == -* ]]; then
    case "${{COMP_WORDS[1]}}" in
{flags}
    esac
    return
  fi
  COMPREPLY=($(compgen -f -- "$current"))
}}
complete -o filenames -F _lakeprune lakeprune
"""


def script(shell: str, commands: dict[str, str]) -> str:
    """The script of a shell; `commands` are names and what they show."""
    if shell not in SHELLS:
        raise UsageError("LP262", f"there is no completion for `{shell}`", fix=f"give one of {', '.join(SHELLS)}")
    return SHELLS[shell](commands)


def _bash(commands: dict[str, str]) -> str:
    choices = [
        f'    "{command} {name}") COMPREPLY=($(compgen -W "{" ".join(flag.choices)}" -- "$current")); return ;;'
        for command in commands
        for flag in _dashed(command)
        if flag.choices is not None
        for name in flag.names.split()
    ]
    flags = [f'      {command}) COMPREPLY=($(compgen -W "{" ".join(_names(command))}" -- "$current")) ;;' for command in commands]
    return _BASH.format(commands=" ".join(commands), choices="\n".join(choices), flags="\n".join(flags))


def _zsh(commands: dict[str, str]) -> str:
    listed = " ".join(_quoted(f"{name}:{meaning}".replace("\n", " ")) for name, meaning in commands.items())
    lines = [
        '# zsh completion for lakeprune; add to ~/.zshrc, after compinit:  eval "$(lakeprune --completion zsh)"',
        "_lakeprune() {",
        "  if (( CURRENT == 2 )); then",
        f"    local -a commands=({listed})",
        "    _describe command commands",
        "    return",
        "  fi",
        "  local command=$words[2]",
        "  shift words; (( CURRENT-- ))",
        "  case $command in",
    ]
    for command in commands:
        specs = " ".join(_quoted(spec) for flag in _dashed(command) for spec in _zsh_specs(flag))
        lines.append(f"    {command}) _arguments {specs} '*:file:_files' ;;")
    return "\n".join([*lines, "  esac", "}", "compdef _lakeprune lakeprune", ""])


def _zsh_specs(flag: Flag) -> Iterator[str]:
    meaning = flag.help.replace("\\", "").replace("[", "(").replace("]", ")").replace(":", " -")
    action = "" if _is_switch(flag) else f":value:({' '.join(flag.choices)})" if flag.choices else ":value:_files"
    for name in _spelled(flag):
        yield f"*{name}[{meaning}]{action}"


def _fish(commands: dict[str, str]) -> str:
    lines = ["# fish completion for lakeprune:  lakeprune --completion fish > ~/.config/fish/completions/lakeprune.fish"]
    for command, meaning in commands.items():
        lines.append(f"complete -c lakeprune -n __fish_use_subcommand -f -a {command} -d {_quoted(meaning)}")
        for flag in _dashed(command):
            for name in _spelled(flag):
                kind = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                value = "" if _is_switch(flag) else f" -x -a {_quoted(' '.join(flag.choices))}" if flag.choices else " -r"
                seen = f"-n '__fish_seen_subcommand_from {command}'"
                lines.append(f"complete -c lakeprune {seen} {kind}{value} -d {_quoted(flag.help)}")
    return "\n".join([*lines, ""])


def _dashed(command: str) -> list[Flag]:
    return [flag for flag in flags_of(command) if flag.names.startswith("-")]


def _is_switch(flag: Flag) -> bool:
    return flag.metavar is None and flag.choices is None


def _spelled(flag: Flag) -> list[str]:
    names = flag.names.split()
    return [*names, f"--no-{names[-1][2:]}"] if "BooleanOptionalAction" in str(flag.more.get("action")) else names


def _names(command: str) -> list[str]:
    return [name for flag in _dashed(command) for name in _spelled(flag)]


def _quoted(text: str) -> str:
    r"""For bash, zsh and fish alike.

    >>> print(_quoted("it's"))
    'it'\''s'
    """
    return "'" + text.replace("'", "'\\''") + "'"


SHELLS: dict[str, Callable[[dict[str, str]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
