"""Runs the files and batches of a package for `tests/clients/python_batches.ts`.

A program has a function for each row. It stores files, runs a batch of questions, does what a user would do with both,
and returns a reply for each question. The request is JSON on standard input: {row, address, key, model, folder,
questions}, and the answer JSON on standard output: {replies} or {error}.
"""

import dataclasses
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

MAX_TOKENS = 400
MAX_LOOKS = 600
SECONDS_BETWEEN_LOOKS = 0.1


@dataclasses.dataclass(frozen=True)
class Place:
    """Where the gateway is, with a model, and a folder for downloads."""

    address: str
    key: str
    model: str
    folder: str


def check(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)


def equal(actual: Any, expected: Any, what: str) -> None:
    check(actual == expected, f"{what}: {actual!r} in place of {expected!r}")


def until(look: Callable[[], Any], has_ended: Callable[[Any], bool]) -> Any:
    """Looks until something has ended, as a program does that polls."""
    for _ in range(MAX_LOOKS):
        found = look()
        if has_ended(found):
            return found
        time.sleep(SECONDS_BETWEEN_LOOKS)
    raise AssertionError(f"has not ended after {MAX_LOOKS} looks: {found!r}")


def lines_of(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines() if line]


def reply(name: str, text: str, prompt_tokens: int, output_tokens: int) -> dict[str, Any]:
    return {"id": name, "text": text, "promptTokens": prompt_tokens, "outputTokens": output_tokens}


def main(rows: dict[str, Callable[[Place, dict[str, str]], list[dict[str, Any]]]]) -> None:
    """Answers one request."""
    answer = os.fdopen(os.dup(1), "w")
    # Packages print, too.
    os.dup2(2, 1)
    wanted = json.load(sys.stdin)
    place = Place(wanted["address"], wanted["key"], wanted["model"], wanted["folder"])
    try:
        found: dict[str, Any] = {"replies": rows[wanted["row"]](place, wanted["questions"])}
    except Exception as thrown:  # every client has classes of its own
        name = "" if isinstance(thrown, AssertionError) else f"{type(thrown).__name__}: "
        found = {"error": f"{name}{thrown}"}
    print(json.dumps(found), file=answer, flush=True)
