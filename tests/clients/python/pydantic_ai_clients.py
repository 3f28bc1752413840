"""Pydantic AI: its four model classes."""

from typing import Any

from harness import Place, Weather, main
from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput


class Degrees(BaseModel):
    city: str
    degrees: int


class PydanticAI:
    errors = {"unknown": "ModelHTTPError", "refused": "ModelHTTPError", "limited": "ModelHTTPError"}

    has_native_output = True
    shows_thoughts = True

    def __init__(self, place: Place) -> None:
        self.model = self.open(place)

    @staticmethod
    def shown(error: Exception) -> tuple[str, Any, str]:
        return type(error).__name__, getattr(error, "status_code", None), str(error)

    async def plain(self, prompt: str) -> tuple[str, int, int]:
        result = await Agent(self.model).run(prompt)
        usage = result.usage() if callable(result.usage) else result.usage
        return result.output, usage.input_tokens, usage.output_tokens

    async def stream(self, prompt: str) -> list[str]:
        async with Agent(self.model).run_stream(prompt) as result:
            return [piece async for piece in result.stream_text(delta=True, debounce_by=None)]

    def _agent(self, weather: Weather) -> Any:
        agent = Agent(self.model)

        @agent.tool_plain(name="weather")
        def weather_of(city: str) -> str:
            """Tells the weather of a city."""
            return weather(city)

        return agent

    async def tool_turn(self, prompt: str, weather: Weather) -> str:
        return (await self._agent(weather).run(prompt)).output

    async def tool_turn_streamed(self, prompt: str, weather: Weather) -> str:
        async with self._agent(weather).run_stream(prompt) as result:
            return await result.get_output()

    async def reasoning(self, prompt: str, weather: Weather) -> Any:
        async with self._agent(weather).run_stream(prompt, model_settings=self.thinking) as result:
            text = await result.get_output()
        parts = [part for message in result.all_messages() for part in message.parts]
        thoughts = "".join(part.content for part in parts if part.part_kind == "thinking")
        return (text, thoughts) if self.shows_thoughts else text

    async def structured(self, prompt: str) -> dict[str, Any]:
        result = await Agent(self.model, output_type=Degrees).run(prompt)
        if self.has_native_output:
            native = await Agent(self.model, output_type=NativeOutput(Degrees)).run(prompt)
            assert isinstance(native.output, Degrees), native.output
        return result.output.model_dump()


class Chat(PydanticAI):
    shows_thoughts = False
    thinking: Any = {"openai_reasoning_effort": "high"}

    def open(self, place: Place) -> Any:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIChatModel(place.model, provider=OpenAIProvider(base_url=place.openai, api_key=place.key))


class Responses(PydanticAI):
    thinking: Any = {"openai_reasoning_effort": "high", "openai_reasoning_summary": "detailed"}

    def open(self, place: Place) -> Any:
        from pydantic_ai.models.openai import OpenAIResponsesModel
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIResponsesModel(place.model, provider=OpenAIProvider(base_url=place.openai, api_key=place.key))


class Anthropic(PydanticAI):
    # For names of Claude models alone.
    has_native_output = False
    thinking: Any = {"anthropic_thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 4000}

    def open(self, place: Place) -> Any:
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        client = AsyncAnthropic(base_url=place.anthropic, api_key=place.key)
        return AnthropicModel(place.model, provider=AnthropicProvider(anthropic_client=client))


class Google(PydanticAI):
    thinking: Any = {"google_thinking_config": {"include_thoughts": True, "thinking_budget": 1024}}

    def open(self, place: Place) -> Any:
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(place.model, provider=GoogleProvider(base_url=place.google, api_key=place.key))


main({"OpenAIChatModel": Chat, "OpenAIResponsesModel": Responses, "AnthropicModel": Anthropic, "GoogleModel": Google})
