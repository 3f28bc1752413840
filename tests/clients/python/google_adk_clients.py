"""Google's Agent Development Kit with its own model class."""

from collections.abc import AsyncIterator
from typing import Any

from google import genai
from google.adk.agents import LlmAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.events import Event
from google.adk.models import Gemini
from google.adk.planners import BuiltInPlanner
from google.adk.runners import InMemoryRunner
from google.genai import types
from harness import Place, Weather, main
from pydantic import BaseModel


class Degrees(BaseModel):
    city: str
    degrees: int


class Adk:
    errors = {"unknown": "ClientError", "refused": "ClientError", "limited": "_ResourceExhaustedError"}

    def __init__(self, place: Place) -> None:
        client = genai.Client(api_key=place.key, http_options=types.HttpOptions(base_url=place.google))
        self.model = Gemini(model=place.model, client=client)

    @staticmethod
    def shown(error: Exception) -> tuple[str, Any, str]:
        return type(error).__name__, getattr(error, "code", None), str(error)

    async def _events(self, prompt: str, streaming: bool = False, **options: Any) -> AsyncIterator[Event]:
        runner = InMemoryRunner(agent=LlmAgent(name="helper", model=self.model, **options), app_name="weather")
        session = await runner.session_service.create_session(app_name="weather", user_id="user")
        message = types.UserContent(parts=[types.Part(text=prompt)])
        config = RunConfig(streaming_mode=StreamingMode.SSE if streaming else StreamingMode.NONE)
        async for event in runner.run_async(
            user_id="user", session_id=session.id, new_message=message, run_config=config
        ):
            yield event

    async def _text(self, prompt: str, streaming: bool = False, **options: Any) -> str:
        final = ""
        async for event in self._events(prompt, streaming, **options):
            if event.is_final_response():
                final = "".join(_texts(event, thought=False))
        return final

    async def plain(self, prompt: str) -> str:
        return await self._text(prompt)

    async def stream(self, prompt: str) -> list[str]:
        return [
            text
            async for event in self._events(prompt, streaming=True)
            if event.partial
            for text in _texts(event, thought=False)
        ]

    async def tool_turn(self, prompt: str, weather: Weather) -> str:
        return await self._text(prompt, tools=[_tool(weather)])

    async def tool_turn_streamed(self, prompt: str, weather: Weather) -> str:
        return await self._text(prompt, streaming=True, tools=[_tool(weather)])

    async def structured(self, prompt: str) -> dict[str, Any]:
        return Degrees.model_validate_json(await self._text(prompt, output_schema=Degrees)).model_dump()

    async def reasoning(self, prompt: str, weather: Weather) -> tuple[str, str]:
        thinking = types.ThinkingConfig(include_thoughts=True, thinking_level=types.ThinkingLevel.HIGH)
        planner = BuiltInPlanner(thinking_config=thinking)
        text, thoughts = "", ""
        async for event in self._events(prompt, tools=[_tool(weather)], planner=planner):
            thoughts += "".join(_texts(event, thought=True))
            if event.is_final_response():
                text = "".join(_texts(event, thought=False))
        return text, thoughts


def _tool(weather: Weather) -> Any:
    def weather_of(city: str) -> str:
        """Tells the weather of a city."""
        return weather(city)

    weather_of.__name__ = "weather"
    return weather_of


def _texts(event: Event, thought: bool) -> list[str]:
    parts = event.content.parts if event.content and event.content.parts else []
    return [part.text for part in parts if part.text and bool(part.thought) == thought]


main({"Gemini": Adk})
