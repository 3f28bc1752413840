"""LlamaIndex: `llama-index-llms-openai-like` (chat and responses), `-openai`, `-anthropic`, `-google-genai`."""

import json
from typing import Any

from harness import Place, Weather, main
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel


class Degrees(BaseModel):
    """The weather of a city."""

    city: str
    degrees: int


ALIASES = {
    "sandbox/chat-1": "claude-haiku-4-5",
    "sandbox/messages-1": "claude-sonnet-4-5",
    "sandbox/content-1": "claude-opus-4-1",
}


class LlamaIndex:
    shows_thoughts = True

    def __init__(self, place: Place) -> None:
        self.place = place
        self.llm = self.open(place)

    @staticmethod
    def shown(error: Exception) -> tuple[str, Any, str]:
        status = getattr(error, "status_code", None) or getattr(error, "code", None)
        return type(error).__name__, status, str(error)

    def plain(self, prompt: str) -> str:
        return self.llm.chat([ChatMessage(role="user", content=prompt)]).message.content

    def stream(self, prompt: str) -> list[str]:
        return [chunk.delta or "" for chunk in self.llm.stream_chat([ChatMessage(role="user", content=prompt)])]

    def tool_turn(self, prompt: str, weather: Weather) -> str:
        return self._loop(prompt, weather, self.llm.chat_with_tools)[0]

    def reasoning(self, prompt: str, weather: Weather) -> Any:
        thinker = self.open(self.place, **self.thinking())
        text, thoughts = self._loop(prompt, weather, thinker.chat_with_tools)
        return (text, thoughts) if self.shows_thoughts else text

    def tool_turn_streamed(self, prompt: str, weather: Weather) -> str:
        def last(*arguments: Any, **named: Any) -> Any:
            reply = None
            for reply in self.llm.stream_chat_with_tools(*arguments, **named):
                pass
            return reply

        return self._loop(prompt, weather, last)[0]

    def _loop(self, prompt: str, weather: Weather, ask: Any) -> tuple[str, str]:
        def weather_of(city: str) -> str:
            """Tells the weather of a city."""
            return weather(city)

        tool = FunctionTool.from_defaults(fn=weather_of, name="weather")
        history = [ChatMessage(role="user", content=prompt)]
        thoughts = ""
        while True:
            reply = ask([tool], chat_history=history, allow_parallel_tool_calls=True)
            calls = self.llm.get_tool_calls_from_response(reply, error_on_no_tool_call=False)
            blocks = [block for block in reply.message.blocks if block.block_type == "thinking"]
            thoughts += "".join(block.content or "" for block in blocks)
            if not calls:
                return reply.message.content, thoughts
            history.append(reply.message)
            for call in calls:
                output = tool(**call.tool_kwargs)
                history.append(
                    ChatMessage(
                        role=MessageRole.TOOL,
                        content=output.content,
                        additional_kwargs={"tool_call_id": call.tool_id, "name": call.tool_name},
                    )
                )

    def structured(self, prompt: str) -> dict[str, Any]:
        reply = self.llm.as_structured_llm(Degrees).chat([ChatMessage(role="user", content=prompt)])
        return json.loads(reply.message.content)


class OpenAI(LlamaIndex):
    errors = {"unknown": "NotFoundError", "refused": "BadRequestError", "limited": "RateLimitError"}


class Like(OpenAI):
    shows_thoughts = False

    def thinking(self) -> dict[str, Any]:
        return {"additional_kwargs": {"reasoning_effort": "high"}}

    def open(self, place: Place, **more: Any) -> Any:
        from llama_index.llms.openai_like import OpenAILike

        return OpenAILike(
            model=place.model,
            api_base=place.openai,
            api_key=place.key,
            max_retries=0,
            is_chat_model=True,
            is_function_calling_model=True,
            should_use_structured_outputs=True,
            context_window=128_000,
            **more,
        )


class LikeResponses(OpenAI):
    def thinking(self) -> dict[str, Any]:
        # `reasoning_options` is left out for models that the package does not know.
        return {
            "additional_kwargs": {"reasoning": {"effort": "high", "summary": "detailed"}},
            "include": ["reasoning.encrypted_content"],
        }

    def open(self, place: Place, **more: Any) -> Any:
        from llama_index.llms.openai_like import OpenAILikeResponses

        return OpenAILikeResponses(
            model=place.model,
            api_base=place.openai,
            api_key=place.key,
            max_retries=0,
            is_chat_model=True,
            is_function_calling_model=True,
            should_use_structured_outputs=True,
            context_window=128_000,
            **more,
        )


class Anthropic(LlamaIndex):
    def thinking(self) -> dict[str, Any]:
        return {"thinking_dict": {"type": "enabled", "budget_tokens": 1024}}

    errors = {"unknown": "NotFoundError", "refused": "BadRequestError", "limited": "RateLimitError"}

    def open(self, place: Place, **more: Any) -> Any:
        from llama_index.llms.anthropic import Anthropic as Model
        from llama_index.llms.anthropic.utils import CLAUDE_MODELS

        # The package takes the models alone whose context it knows: these are aliases at the gateway.
        model = ALIASES.get(place.model, place.model)
        CLAUDE_MODELS.setdefault(model, 128_000)
        return Model(model=model, base_url=place.anthropic, api_key=place.key, max_retries=0, max_tokens=4000, **more)


class Google(LlamaIndex):
    def thinking(self) -> dict[str, Any]:
        from google.genai import types

        thinking = types.ThinkingConfig(include_thoughts=True, thinking_budget=1024)
        return {"generation_config": types.GenerateContentConfig(thinking_config=thinking)}

    errors = {"unknown": "ClientError", "refused": "ClientError", "limited": "ClientError"}

    def open(self, place: Place, **more: Any) -> Any:
        from google.genai import types
        from llama_index.llms.google_genai import GoogleGenAI

        return GoogleGenAI(
            model=place.model, api_key=place.key, http_options=types.HttpOptions(base_url=place.google), max_retries=1, **more
        )


main({"openai-like": Like, "openai-like responses": LikeResponses, "anthropic": Anthropic, "google-genai": Google})
