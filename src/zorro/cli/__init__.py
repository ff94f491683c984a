"""The `zorro` command. Its packages are an extra, so nothing here is imported before it is used."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, NoReturn

from zorro.errors import TROUBLESHOOTING, MissingExtraError, ZorroError

_FAILED = 1
_UNEXPECTED = 70  # EX_SOFTWARE of sysexits.h


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; whatever goes wrong is one line on stderr and an exit code.

    `--debug` may stand anywhere, since it is added to a command that has just failed.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    debug = "--debug" in given or os.environ.get("ZORRO_DEBUG", "0") not in ("", "0")
    try:
        _app()(args=[word for word in given if word != "--debug"], prog_name="zorro")
    except ZorroError as error:
        more = f" (see {TROUBLESHOOTING}#{error.section})" if error.section else ""
        _fail(f"{error}{more}", _FAILED, debug=debug)
    except Exception as error:
        hint = "" if debug else " (add --debug to see where)"
        _fail(f"unexpected {type(error).__name__}: {error}{hint}", _UNEXPECTED, debug=debug)


def _app() -> Callable[..., Any]:
    if any(find_spec(package) is None for package in ("rich", "typer")):
        raise MissingExtraError("the command line", "cli")
    from zorro.cli.app import app

    return app


def _fail(message: str, code: int, *, debug: bool) -> NoReturn:
    if debug:
        traceback.print_exc()
    print(f"zorro: error: {' '.join(message.split())}", file=sys.stderr)
    raise SystemExit(code)
