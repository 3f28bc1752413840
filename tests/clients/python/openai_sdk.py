"""`openai`: chat completions and responses."""

import json
from typing import Any

import openai
from harness import TOOL_PARAMETERS, Place, Weather, main
from pydantic import BaseModel


class Degrees(BaseModel):
    city: str
    degrees: int


class OpenAI:
    errors = {"unknown": "NotFoundError", "refused": "BadRequestError", "limited": "RateLimitError"}

    def __init__(self, place: Place) -> None:
        self.model = place.model
        self.client = openai.OpenAI(base_url=place.openai, api_key=place.key, max_retries=0)

    @staticmethod
    def shown(error: Exception) -> tuple[str, Any, str]:
        return type(error).__name__, getattr(error, "status_code", None), str(error)

    def tool_turn(self, prompt: str, weather: Weather) -> str:
        return self._loop(prompt, weather, self._ask)[0]

    def tool_turn_streamed(self, prompt: str, weather: Weather) -> str:
        return self._loop(prompt, weather, self._ask_streaming)[0]


class Chat(OpenAI):
    tools = [{"type": "function", "function": {"name": "weather", "parameters": TOOL_PARAMETERS, "strict": True}}]

    def plain(self, prompt: str) -> tuple[str, int, int]:
        reply = self.client.chat.completions.create(model=self.model, messages=[{"role": "user", "content": prompt}])
        return reply.choices[0].message.content, reply.usage.prompt_tokens, reply.usage.completion_tokens

    def stream(self, prompt: str) -> list[str]:
        with self.client.chat.completions.stream(
            model=self.model, messages=[{"role": "user", "content": prompt}]
        ) as events:
            return [event.delta for event in events if event.type == "content.delta"]

    def _ask(self, messages: list[Any], **options: Any) -> Any:
        return self.client.chat.completions.create(model=self.model, messages=messages, tools=self.tools, **options)

    def _ask_streaming(self, messages: list[Any], **options: Any) -> Any:
        with self.client.chat.completions.stream(
            model=self.model, messages=messages, tools=self.tools, **options
        ) as events:
            return events.get_final_completion()

    def _loop(self, prompt: str, weather: Weather, ask: Any, **options: Any) -> tuple[str, int]:
        messages: list[Any] = [{"role": "user", "content": prompt}]
        thought_tokens = 0
        while True:
            reply = ask(messages, **options)
            thought_tokens += (reply.usage and reply.usage.completion_tokens_details.reasoning_tokens) or 0
            message = reply.choices[0].message
            if not message.tool_calls:
                return message.content, thought_tokens
            messages.append(message)
            for call in message.tool_calls:
                answer = weather(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": answer})

    def structured(self, prompt: str) -> dict[str, Any]:
        reply = self.client.chat.completions.parse(
            model=self.model, messages=[{"role": "user", "content": prompt}], response_format=Degrees
        )
        return reply.choices[0].message.parsed.model_dump()

    def reasoning(self, prompt: str, weather: Weather) -> str:
        text, thought_tokens = self._loop(prompt, weather, self._ask, reasoning_effort="high")
        assert thought_tokens > 0, "no tokens of reasoning are counted"
        return text


class Responses(OpenAI):
    tools = [{"type": "function", "name": "weather", "parameters": TOOL_PARAMETERS, "strict": True}]

    def plain(self, prompt: str) -> tuple[str, int, int]:
        reply = self.client.responses.create(model=self.model, input=prompt)
        return reply.output_text, reply.usage.input_tokens, reply.usage.output_tokens

    def stream(self, prompt: str) -> list[str]:
        with self.client.responses.stream(model=self.model, input=prompt) as events:
            pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
            assert events.get_final_response().output_text == "".join(pieces)
            return pieces

    def _request(self, items: list[Any], options: dict[str, Any]) -> dict[str, Any]:
        stateless: dict[str, Any] = {"store": False, "include": ["reasoning.encrypted_content"]}
        return {"model": self.model, "input": items, "tools": self.tools, **stateless, **options}

    def _ask(self, items: list[Any], **options: Any) -> Any:
        return self.client.responses.create(**self._request(items, options))

    def _ask_streaming(self, items: list[Any], **options: Any) -> Any:
        with self.client.responses.stream(**self._request(items, options)) as events:
            return events.get_final_response()

    def _loop(self, prompt: str, weather: Weather, ask: Any, **options: Any) -> tuple[str, str]:
        items: list[Any] = [{"role": "user", "content": prompt}]
        thoughts = ""
        while True:
            reply = ask(items, **options)
            for item in reply.output:
                if item.type == "reasoning":
                    thoughts += "".join(part.text for part in item.summary)
            calls = [item for item in reply.output if item.type == "function_call"]
            if not calls:
                return reply.output_text, thoughts
            items += [item.model_dump(exclude={"parsed_arguments"}, exclude_none=True) for item in reply.output]
            for call in calls:
                answer = weather(**json.loads(call.arguments))
                items.append({"type": "function_call_output", "call_id": call.call_id, "output": answer})

    def structured(self, prompt: str) -> dict[str, Any]:
        reply = self.client.responses.parse(model=self.model, input=prompt, text_format=Degrees)
        return reply.output_parsed.model_dump()

    def reasoning(self, prompt: str, weather: Weather) -> tuple[str, str]:
        return self._loop(prompt, weather, self._ask_streaming, reasoning={"effort": "high", "summary": "detailed"})


main({"chat": Chat, "responses": Responses})
