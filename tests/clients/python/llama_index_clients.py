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


class LlamaIndex:
    def __init__(self, place: Place) -> None:
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
        return self._loop(prompt, weather, self.llm.chat_with_tools)

    def tool_turn_streamed(self, prompt: str, weather: Weather) -> str:
        def last(*arguments: Any, **named: Any) -> Any:
            reply = None
            for reply in self.llm.stream_chat_with_tools(*arguments, **named):
                pass
            return reply

        return self._loop(prompt, weather, last)

    def _loop(self, prompt: str, weather: Weather, ask: Any) -> str:
        def weather_of(city: str) -> str:
            """Tells the weather of a city."""
            return weather(city)

        tool = FunctionTool.from_defaults(fn=weather_of, name="weather")
        history = [ChatMessage(role="user", content=prompt)]
        while True:
            reply = ask([tool], chat_history=history, allow_parallel_tool_calls=True)
            calls = self.llm.get_tool_calls_from_response(reply, error_on_no_tool_call=False)
            if not calls:
                return reply.message.content
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
    def open(self, place: Place) -> Any:
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
        )


class LikeResponses(OpenAI):
    def open(self, place: Place) -> Any:
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
        )


class Anthropic(LlamaIndex):
    errors = {"unknown": "NotFoundError", "refused": "BadRequestError", "limited": "RateLimitError"}

    def open(self, place: Place) -> Any:
        from llama_index.llms.anthropic import Anthropic as Model

        return Model(model=place.model, base_url=place.anthropic, api_key=place.key, max_retries=0, max_tokens=1000)


class Google(LlamaIndex):
    errors = {"unknown": "ClientError", "refused": "ClientError", "limited": "ClientError"}

    def open(self, place: Place) -> Any:
        from google.genai import types
        from llama_index.llms.google_genai import GoogleGenAI

        return GoogleGenAI(
            model=place.model, api_key=place.key, http_options=types.HttpOptions(base_url=place.google), max_retries=1
        )


main({"openai-like": Like, "openai-like responses": LikeResponses, "anthropic": Anthropic, "google-genai": Google})
