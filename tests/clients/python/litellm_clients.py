"""LiteLLM as a client: `openai/…`, `anthropic/…`, `gemini/…`, and its responses."""

import copy
import json
import os
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from harness import TOOL_PARAMETERS, Place, Weather, main
from pydantic import BaseModel

litellm.telemetry = False
litellm.suppress_debug_info = True


class Degrees(BaseModel):
    city: str
    degrees: int


class Completion:
    errors = {"unknown": "NotFoundError", "refused": "BadRequestError", "limited": "RateLimitError"}
    tools = [
        {
            "type": "function",
            "function": {"name": "weather", "description": "Tells the weather", "parameters": TOOL_PARAMETERS},
        }
    ]

    def __init__(self, place: Place) -> None:
        # The package changes schemas in place.
        self.tools = copy.deepcopy(self.tools)
        self.options: dict[str, Any] = {
            "model": f"{self.provider}/{place.model}",
            "api_base": self.base(place),
            "api_key": place.key,
            "num_retries": 0,
            "max_retries": 0,
        }

    @staticmethod
    def shown(error: Exception) -> tuple[str, Any, str]:
        return type(error).__name__, getattr(error, "status_code", None), str(error)

    def plain(self, prompt: str) -> tuple[str, int, int]:
        reply = litellm.completion(messages=[{"role": "user", "content": prompt}], **self.options)
        return reply.choices[0].message.content, reply.usage.prompt_tokens, reply.usage.completion_tokens

    def stream(self, prompt: str) -> list[str]:
        chunks = litellm.completion(messages=[{"role": "user", "content": prompt}], stream=True, **self.options)
        return [chunk.choices[0].delta.content or "" for chunk in chunks]

    def tool_turn(self, prompt: str, weather: Weather) -> str:
        return self._loop(prompt, weather, self._ask)[0]

    def tool_turn_streamed(self, prompt: str, weather: Weather) -> str:
        return self._loop(prompt, weather, self._ask_streaming)[0]

    def reasoning(self, prompt: str, weather: Weather) -> Any:
        text, thoughts = self._loop(prompt, weather, self._ask, **self.thinking)
        return (text, thoughts) if self.shows_thoughts else text

    def _ask(self, messages: list[Any], **more: Any) -> Any:
        return litellm.completion(messages=messages, tools=self.tools, **self.options, **more)

    def _ask_streaming(self, messages: list[Any], **more: Any) -> Any:
        chunks = litellm.completion(messages=messages, tools=self.tools, stream=True, **self.options, **more)
        return litellm.stream_chunk_builder(list(chunks), messages=messages)

    def _loop(self, prompt: str, weather: Weather, ask: Any, **more: Any) -> tuple[str, str]:
        messages: list[Any] = [{"role": "user", "content": prompt}]
        thoughts = ""
        while True:
            message = ask(messages, **more).choices[0].message
            thoughts += getattr(message, "reasoning_content", None) or ""
            if not message.tool_calls:
                return message.content, thoughts
            messages.append(message)
            for call in message.tool_calls:
                answer = weather(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "name": "weather", "content": answer})

    def structured(self, prompt: str) -> dict[str, Any]:
        reply = litellm.completion(
            messages=[{"role": "user", "content": prompt}], response_format=Degrees, **self.options
        )
        return Degrees.model_validate_json(reply.choices[0].message.content).model_dump()


class OpenAI(Completion):
    provider = "openai"
    shows_thoughts = False
    thinking = {"reasoning_effort": "high", "allowed_openai_params": ["reasoning_effort"]}

    @staticmethod
    def base(place: Place) -> str:
        return place.openai


class Anthropic(Completion):
    provider = "anthropic"
    shows_thoughts = True
    thinking = {
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "max_tokens": 4000,
        "allowed_openai_params": ["thinking"],
    }

    @staticmethod
    def base(place: Place) -> str:
        return place.anthropic


class Gemini(Completion):
    provider = "gemini"
    shows_thoughts = True
    thinking = {"reasoning_effort": "high", "allowed_openai_params": ["reasoning_effort"]}

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        # A schema goes as text into the prompt of a model that the package does not know.
        facts = {"supports_response_schema": True, "litellm_provider": "gemini", "mode": "chat"}
        litellm.register_model({self.options["model"]: facts})

    @staticmethod
    def base(place: Place) -> str:
        return f"{place.google}/v1beta"


class Responses(OpenAI):
    """`litellm.responses`."""

    tools = [{"type": "function", "name": "weather", "parameters": TOOL_PARAMETERS, "strict": True}]
    tool_turn_streamed = None

    def plain(self, prompt: str) -> tuple[str, int, int]:
        reply = litellm.responses(input=prompt, **self.options)
        return reply.output_text, reply.usage.input_tokens, reply.usage.output_tokens

    def stream(self, prompt: str) -> list[str]:
        events = litellm.responses(input=prompt, stream=True, **self.options)
        return [event.delta for event in events if event.type == "response.output_text.delta"]

    def tool_turn(self, prompt: str, weather: Weather) -> str:
        return self._loop(prompt, weather, None)[0]

    def reasoning(self, prompt: str, weather: Weather) -> tuple[str, str]:
        return self._loop(prompt, weather, None, reasoning={"effort": "high", "summary": "detailed"})

    def _loop(self, prompt: str, weather: Weather, ask: Any, **more: Any) -> tuple[str, str]:
        items: list[Any] = [{"role": "user", "content": prompt}]
        thoughts = ""
        stateless: dict[str, Any] = {"store": False, "include": ["reasoning.encrypted_content"]}
        while True:
            reply = litellm.responses(input=items, tools=self.tools, **stateless, **self.options, **more)
            output = [item if isinstance(item, dict) else item.model_dump(exclude_none=True) for item in reply.output]
            for item in output:
                if item["type"] == "reasoning":
                    thoughts += "".join(part["text"] for part in item["summary"])
            calls = [item for item in output if item["type"] == "function_call"]
            if not calls:
                return reply.output_text, thoughts
            items += output
            for call in calls:
                answer = weather(**json.loads(call["arguments"]))
                items.append({"type": "function_call_output", "call_id": call["call_id"], "output": answer})

    def structured(self, prompt: str) -> dict[str, Any]:
        reply = litellm.responses(input=prompt, text_format=Degrees, **self.options)
        return Degrees.model_validate_json(reply.output_text).model_dump()


main({"openai/": OpenAI, "openai/ responses": Responses, "anthropic/": Anthropic, "gemini/": Gemini})
