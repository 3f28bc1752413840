"""Runs scenarios of Python packages for `tests/clients/sdk_worker.ts`.

A program lists its rows; a row is one way in which a package reaches the gateway, such as chat completions of
`openai`. It is a class, constructed with a `Place`, with a method for each scenario that the package supports. The
methods do what a user would do and return what the package shows; the checks are here.

A request is a line of JSON on standard input: {row, scenario, address, key, model}. The answer is a line of JSON on
standard output: {outcome}, which is `yes` or `no: <why>`. The program ends with its standard input.

By hand, `python openai_sdk.py ADDRESS KEY [part of a row's name]` tries everything with the models of `switchyard dev`
and prints a line for each. SWITCHYARD_TRACE=1 shows where failures come from.
"""

import asyncio
import dataclasses
import inspect
import json
import os
import re
import signal
import sys
import traceback
from typing import Any

MAX_SCENARIO_SECONDS = 60

PLAIN = "one two three four"
STREAM = "[[words 40]] Grüße"
CITY = 'Zürich "West"'
TOOL = '[[tool weather {"city":"Zürich \\"West\\""}]] How is the weather?'
PARALLEL = '[[tool weather {"city":"Bern"}]] [[tool weather {"city":"Oslo"}]] How is the weather?'
STRUCTURED = "Weather in Bern?"
UNKNOWN_MODEL = "sandbox/nowhere"
REFUSED = "[[fail 400 The pigeons are tired]] hello"
RATE_LIMITED = "[[fail 429 1]] hello"

TOOL_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Name of the city"}},
    "required": ["city"],
    "additionalProperties": False,
}


@dataclasses.dataclass(frozen=True)
class Place:
    """Where the gateway is, and which model to talk to."""

    address: str
    key: str
    model: str

    @property
    def openai(self) -> str:
        return f"{self.address}/v1"

    @property
    def anthropic(self) -> str:
        return f"{self.address}/msgcompat"

    @property
    def google(self) -> str:
        return f"{self.address}/gencompat"


class Weather:
    """The tool that a model calls. Keeps the cities that it was asked for."""

    def __init__(self) -> None:
        self.cities: list[str] = []

    def __call__(self, city: str) -> str:
        self.cities.append(city)
        return f"sunny in {city}"


def check(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)


def equal(actual: Any, expected: Any, what: str) -> None:
    check(actual == expected, f"{what}: {actual!r} in place of {expected!r}")


class Scenarios:
    """What each row is tried with. The names are those of the table's columns."""

    def __init__(self, make: type, place: Place, runner: asyncio.Runner) -> None:
        self.make, self.place, self.runner = make, place, runner

    def run(self, scenario: str) -> str:
        methods = {
            "plain": (self.plain, "plain"),
            "stream": (self.stream, "stream"),
            "tools": (self.tools, "tool_turn"),
            "parallel tools": (self.parallel_tools, "tool_turn"),
            "structured": (self.structured, "structured"),
            "reasoning": (self.reasoning, "reasoning"),
            "error": (self.error, "errors"),
        }
        attempt, needed = methods[scenario]
        if not hasattr(self.make, needed):
            return f"no: the row has no method {needed}"
        signal.signal(signal.SIGALRM, _late)
        signal.alarm(MAX_SCENARIO_SECONDS)
        try:
            attempt()
            return "yes"
        except Exception as thrown:  # every client has classes of its own
            if os.environ.get("SWITCHYARD_TRACE"):
                traceback.print_exc()
            name = "" if isinstance(thrown, AssertionError) else f"{type(thrown).__name__}: "
            return f"no: {name}{thrown}"
        finally:
            signal.alarm(0)

    def call(self, method: Any, *arguments: Any) -> Any:
        result = method(*arguments)
        return self.runner.run(result) if inspect.iscoroutine(result) else result

    def plain(self) -> None:
        """`plain(prompt)` returns the text, or the text with the tokens in and out."""
        shown = self.call(self.make(self.place).plain, PLAIN)
        text, *tokens = shown if isinstance(shown, tuple) else (shown,)
        equal(text, f"You said: {PLAIN}", "text")
        if tokens:
            equal(tuple(tokens), (4, 6), "tokens")

    def stream(self) -> None:
        """`stream(prompt)` returns the pieces of text in order."""
        pieces = self.call(self.make(self.place).stream, STREAM)
        equal("".join(pieces), " ".join(f"word{index}" for index in range(1, 41)), "text")
        check(len([piece for piece in pieces if piece]) > 10, f"came in {len(pieces)} pieces")

    def tools(self) -> None:
        """`tool_turn(prompt, weather)` lets the model call the tool and returns the text of the final answer."""
        self._tool_turns(("tool_turn", "tool_turn_streamed"), TOOL, [CITY])

    def parallel_tools(self) -> None:
        self._tool_turns(("tool_turn", "tool_turn_streamed"), PARALLEL, ["Bern", "Oslo"])

    def reasoning(self) -> None:
        """`reasoning(prompt, weather)` is a tool turn of a model that thinks; returns the thoughts, too."""
        self._tool_turns(("reasoning",), TOOL, [CITY])

    def _tool_turns(self, names: tuple[str, ...], prompt: str, cities: list[str]) -> None:
        for name in names:
            row = self.make(self.place)
            method = getattr(row, name, None)
            if method is None:
                continue
            weather = Weather()
            answer = self.call(method, prompt, weather)
            text, thoughts = answer if isinstance(answer, tuple) else (answer, None)
            equal(sorted(weather.cities), sorted(cities), f"{name}: cities asked for")
            for city in cities:
                said = re.escape(f"sunny in {city}").replace('"', r'\\?"')
                found = re.search(f"The tool weather answered: .*{said}", text)
                check(found is not None, f"{name}: final answer {text!r}")
            check(thoughts is None or "think about this" in thoughts, f"{name}: thoughts {thoughts!r}")

    def structured(self) -> None:
        """`structured(prompt)` returns an object with a city and degrees, as a dict."""
        value = self.call(self.make(self.place).structured, STRUCTURED)
        equal(sorted(value), ["city", "degrees"], "fields")
        check(isinstance(value["city"], str) and isinstance(value["degrees"], int), f"types: {value}")

    def error(self) -> None:
        """`plain` raises; `shown(error)` returns the class's name, the status and the message."""
        unknown = dataclasses.replace(self.place, model=UNKNOWN_MODEL)
        self._raises(unknown, PLAIN, ("unknown", 404, UNKNOWN_MODEL))
        self._raises(self.place, REFUSED, ("refused", 400, "The pigeons are tired"))
        self._raises(self.place, RATE_LIMITED, ("limited", 429, ""))

    def _raises(self, place: Place, prompt: str, expected: tuple[str, int, str]) -> None:
        case, status, part = expected
        try:
            # Some packages look the model up when they are constructed.
            shown = self.call(self.make(place).plain, prompt)
        except Exception as thrown:
            name, actual, message = self.make.shown(thrown)
            equal(name, self.make.errors[case], f"class of the {status} ({message})")
            equal(actual, status, f"status of {name} ({message})")
            check(part in message and len(message) > 10, f"message of the {status}: {message!r}")
            return
        raise AssertionError(f"no error where {status} was expected, but {shown!r}")


SCENARIOS = ("plain", "stream", "tools", "parallel tools", "structured", "reasoning", "error")
MODELS = {"openai": "sandbox/chat-1", "anthropic": "sandbox/messages-1", "google": "sandbox/content-1"}


def _late(_signal: int, _frame: Any) -> None:
    raise TimeoutError(f"not done after {MAX_SCENARIO_SECONDS} s")


def main(rows: dict[str, type]) -> None:
    """Serves requests until standard input ends, or tries everything where the address is an argument."""
    with asyncio.Runner() as runner:
        if len(sys.argv) > 2:
            _by_hand(rows, runner)
            return
        answers = os.fdopen(os.dup(1), "w")
        # Packages print, too.
        os.dup2(2, 1)
        for line in sys.stdin:
            wanted = json.loads(line)
            place = Place(wanted["address"], wanted["key"], wanted["model"])
            outcome = Scenarios(rows[wanted["row"]], place, runner).run(wanted["scenario"])
            print(json.dumps({"outcome": outcome}), file=answers, flush=True)


def _by_hand(rows: dict[str, type], runner: asyncio.Runner) -> None:
    address, key, *parts = sys.argv[1:]
    for name, make in rows.items():
        if parts and not any(part in name for part in parts):
            continue
        for vendor, model in MODELS.items():
            for scenario in [only] if (only := os.environ.get("SCENARIO")) else SCENARIOS:
                outcome = Scenarios(make, Place(address, key, model), runner).run(scenario)
                print(f"{name}, {vendor}, {scenario}: {outcome}", flush=True)
