"""`anthropic`: messages, the tool runner, and message threads."""

from typing import Any

import anthropic
from anthropic import beta_tool
from harness import TOOL_PARAMETERS, Place, Weather, main
from pydantic import BaseModel


class Degrees(BaseModel):
    city: str
    degrees: int


def text_of(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


class Messages:
    errors = {"unknown": "NotFoundError", "refused": "BadRequestError", "limited": "RateLimitError"}
    tools = [{"name": "weather", "description": "Tells the weather", "input_schema": TOOL_PARAMETERS}]

    def __init__(self, place: Place) -> None:
        self.model = place.model
        self.client = anthropic.Anthropic(base_url=place.anthropic, api_key=place.key, max_retries=0)

    @staticmethod
    def shown(error: Exception) -> tuple[str, Any, str]:
        return type(error).__name__, getattr(error, "status_code", None), str(error)

    def plain(self, prompt: str) -> tuple[str, int, int]:
        reply = self.client.messages.create(
            model=self.model, max_tokens=1000, messages=[{"role": "user", "content": prompt}]
        )
        # What most programs read.
        return reply.content[-1].text, reply.usage.input_tokens, reply.usage.output_tokens

    def stream(self, prompt: str) -> list[str]:
        with self.client.messages.stream(
            model=self.model, max_tokens=1000, messages=[{"role": "user", "content": prompt}]
        ) as events:
            pieces = list(events.text_stream)
            assert events.get_final_text() == "".join(pieces)
            return pieces

    def tool_turn(self, prompt: str, weather: Weather) -> str:
        return self._loop(prompt, weather, self._ask)[0]

    def tool_turn_streamed(self, prompt: str, weather: Weather) -> str:
        return self._loop(prompt, weather, self._ask_streaming)[0]

    def reasoning(self, prompt: str, weather: Weather) -> tuple[str, str]:
        return self._loop(
            prompt, weather, self._ask_streaming, thinking={"type": "enabled", "budget_tokens": 1024}
        )

    def _ask(self, messages: list[Any], **options: Any) -> Any:
        return self.client.messages.create(
            model=self.model, max_tokens=4000, messages=messages, tools=self.tools, **options
        )

    def _ask_streaming(self, messages: list[Any], **options: Any) -> Any:
        with self.client.messages.stream(
            model=self.model, max_tokens=4000, messages=messages, tools=self.tools, **options
        ) as events:
            return events.get_final_message()

    def _loop(self, prompt: str, weather: Weather, ask: Any, **options: Any) -> tuple[str, str]:
        messages: list[Any] = [{"role": "user", "content": prompt}]
        thoughts = ""
        while True:
            reply = ask(messages, **options)
            thoughts += "".join(block.thinking for block in reply.content if block.type == "thinking")
            if reply.stop_reason != "tool_use":
                return reply.content[-1].text, thoughts
            messages.append({"role": "assistant", "content": reply.content})
            messages.append({"role": "user", "content": self._results(reply, weather)})

    def _results(self, reply: Any, weather: Weather) -> list[Any]:
        return [
            {"type": "tool_result", "tool_use_id": block.id, "content": weather(**block.input)}
            for block in reply.content
            if block.type == "tool_use"
        ]

    def structured(self, prompt: str) -> dict[str, Any]:
        reply = self.client.messages.parse(
            model=self.model,
            max_tokens=1000,
            messages=[{"role": "user", "content": prompt}],
            output_format=Degrees,
        )
        return reply.parsed_output.model_dump()


def weather_tool(tool: Weather) -> Any:
    @beta_tool
    def weather(city: str) -> str:
        """Tells the weather of a city.

        Args:
            city: Name of the city.
        """
        return tool(city)

    return weather


class ToolRunner(Messages):
    """`client.beta.messages.tool_runner`: the package runs the loop."""

    def _runner(self, prompt: str, tools: list[Any], **more: Any) -> Any:
        return self.client.beta.messages.tool_runner(
            model=self.model, max_tokens=4000, messages=[{"role": "user", "content": prompt}], tools=tools, **more
        )

    def plain(self, prompt: str) -> tuple[str, int, int]:
        reply = self._runner(prompt, []).until_done()
        return text_of(reply), reply.usage.input_tokens, reply.usage.output_tokens

    def stream(self, prompt: str) -> list[str]:
        pieces: list[str] = []
        for events in self._runner(prompt, [], stream=True):
            pieces += [event.text for event in events if event.type == "text"]
        return pieces

    def tool_turn(self, prompt: str, weather: Weather) -> str:
        return text_of(self._runner(prompt, [weather_tool(weather)]).until_done())

    def tool_turn_streamed(self, prompt: str, weather: Weather) -> str:
        return text_of(self._runner(prompt, [weather_tool(weather)], stream=True).until_done())

    def reasoning(self, prompt: str, weather: Weather) -> tuple[str, str]:
        thoughts, text = "", ""
        options: Any = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
        for message in self._runner(prompt, [weather_tool(weather)], **options):
            thoughts += "".join(block.thinking for block in message.content if block.type == "thinking")
            text = text_of(message)
        return text, thoughts

    def structured(self, prompt: str) -> dict[str, Any]:
        return self._runner(prompt, [], output_format=Degrees).until_done().parsed_output.model_dump()


class Threads(Messages):
    """`client.beta.messages.thread`, which goes on without a thread where the model's vendor has none."""

    def _thread(self, **more: Any) -> Any:
        return self.client.beta.messages.thread(
            model=self.model, max_tokens=4000, unsupported_request_behavior="continue_unthreaded", **more
        )

    def plain(self, prompt: str) -> tuple[str, int, int]:
        reply = self._thread().send(user(prompt))
        return text_of(reply), reply.usage.input_tokens, reply.usage.output_tokens

    def stream(self, prompt: str) -> list[str]:
        thread = self._thread()
        thread.send(user("hello"))
        with thread.stream(user(prompt)) as events:
            return list(events.text_stream)

    def tool_turn(self, prompt: str, weather: Weather) -> str:
        thread = self._thread(tools=[weather_tool(weather)], messages=[user(prompt)])
        return text_of(thread.tool_runner().until_done())

    def reasoning(self, prompt: str, weather: Weather) -> tuple[str, str]:
        thread = self._thread(
            tools=[weather_tool(weather)],
            messages=[user(prompt)],
            thinking={"type": "enabled", "budget_tokens": 1024},
        )
        thoughts, text = "", ""
        for message in thread.tool_runner():
            thoughts += "".join(block.thinking for block in message.content if block.type == "thinking")
            text = text_of(message)
        return text, thoughts

    def tool_turn_streamed(self, prompt: str, weather: Weather) -> str:
        thread = self._thread(tools=[weather_tool(weather)], messages=[user(prompt)])
        return text_of(thread.tool_runner(stream=True).until_done())

    def structured(self, prompt: str) -> dict[str, Any]:
        return self._thread(output_format=Degrees).parse(user(prompt)).parsed_output.model_dump()


def user(text: str) -> Any:
    return {"role": "user", "content": text}


main({"messages": Messages, "tool_runner": ToolRunner, "thread": Threads})
