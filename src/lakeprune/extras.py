"""What installs the packages of an extra, by name: advice that also works where lakeprune itself came from a checkout or a wheel.

In: an extra. Out: a `pip install` line, from the metadata of the installed package, so that it never differs from it.
"""

from __future__ import annotations


def install_line(extra: str) -> str:
    """
    >>> install_line("sharing")
    'pip install pyyaml starlette uvicorn'
    """
    import re
    import shlex
    from importlib.metadata import PackageNotFoundError, requires

    try:
        required = requires("lakeprune") or []
    except PackageNotFoundError:
        return f"pip install '.[{extra}]' in a checkout of lakeprune"
    wanted = re.compile(rf"""extra == ['"]{re.escape(extra)}['"]""")
    packages = [each.partition(";")[0].strip() for each in required if wanted.search(each)]
    return shlex.join(["pip", "install", *packages])
