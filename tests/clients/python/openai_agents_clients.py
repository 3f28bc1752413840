"""OpenAI Agents SDK: its responses model and its chat completions model."""

from typing import Any

from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from harness import Place, Weather, main
from openai import AsyncOpenAI
from openai.types.shared import Reasoning
from pydantic import BaseModel

set_tracing_disabled(True)


class Degrees(BaseModel):
    city: str
    degrees: int


class OpenAIAgents:
    errors = {"unknown": "NotFoundError", "refused": "BadRequestError", "limited": "RateLimitError"}

    def __init__(self, place: Place) -> None:
        client = AsyncOpenAI(base_url=place.openai, api_key=place.key, max_retries=0)
        self.model = self.make_model(place.model, client)

    @staticmethod
    def shown(error: Exception) -> tuple[str, Any, str]:
        return type(error).__name__, getattr(error, "status_code", None), str(error)

    async def plain(self, prompt: str) -> tuple[str, int, int]:
        result = await Runner.run(Agent(name="Echo", model=self.model), prompt)
        usage = result.context_wrapper.usage
        return result.final_output, usage.input_tokens, usage.output_tokens

    async def stream(self, prompt: str) -> list[str]:
        result = Runner.run_streamed(Agent(name="Echo", model=self.model), prompt)
        return [
            event.data.delta
            async for event in result.stream_events()
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
        ]

    def _agent(self, weather: Weather, **options: Any) -> Any:
        @function_tool(name_override="weather")
        def weather_of(city: str) -> str:
            """Tells the weather of a city."""
            return weather(city)

        return Agent(name="Weather", model=self.model, tools=[weather_of], **options)

    async def tool_turn(self, prompt: str, weather: Weather) -> str:
        return (await Runner.run(self._agent(weather), prompt)).final_output

    async def tool_turn_streamed(self, prompt: str, weather: Weather) -> str:
        result = Runner.run_streamed(self._agent(weather), prompt)
        async for _event in result.stream_events():
            pass
        return result.final_output

    async def structured(self, prompt: str) -> dict[str, Any]:
        result = await Runner.run(Agent(name="Weather", model=self.model, output_type=Degrees), prompt)
        return result.final_output.model_dump()

    async def reasoning(self, prompt: str, weather: Weather) -> Any:
        settings = ModelSettings(
            store=False,
            reasoning=Reasoning(effort="high", summary="detailed"),
            response_include=["reasoning.encrypted_content"],
        )
        result = Runner.run_streamed(self._agent(weather, model_settings=settings), prompt)
        async for _event in result.stream_events():
            pass
        thoughts = ""
        for item in result.new_items:
            if item.type == "reasoning_item":
                thoughts += "".join(part.text for part in item.raw_item.summary)
        return (result.final_output, thoughts) if self.shows_thoughts else result.final_output


class Responses(OpenAIAgents):
    shows_thoughts = True

    @staticmethod
    def make_model(model: str, client: AsyncOpenAI) -> Any:
        return OpenAIResponsesModel(model=model, openai_client=client)


class Chat(OpenAIAgents):
    shows_thoughts = False

    @staticmethod
    def make_model(model: str, client: AsyncOpenAI) -> Any:
        return OpenAIChatCompletionsModel(model=model, openai_client=client)


main({"responses": Responses, "chat": Chat})
