"""`google-genai`: generate_content, with automatic function calling, and chats."""

from typing import Any

from google import genai
from google.genai import errors, types
from harness import TOOL_PARAMETERS, Place, Weather, main
from pydantic import BaseModel


class Degrees(BaseModel):
    city: str
    degrees: int


class GenerateContent:
    errors = {"unknown": "ClientError", "refused": "ClientError", "limited": "ClientError"}
    tools = [
        types.Tool(
            function_declarations=[
                types.FunctionDeclaration(
                    name="weather", description="Tells the weather", parameters_json_schema=TOOL_PARAMETERS
                )
            ]
        )
    ]

    def __init__(self, place: Place) -> None:
        self.model = place.model
        self.client = genai.Client(
            api_key=place.key, vertexai=False, http_options=types.HttpOptions(base_url=place.google)
        )

    @staticmethod
    def shown(error: Exception) -> tuple[str, Any, str]:
        return type(error).__name__, getattr(error, "code", None), str(error)

    def plain(self, prompt: str) -> tuple[str, int, int]:
        reply = self.client.models.generate_content(model=self.model, contents=prompt)
        return reply.text, reply.usage_metadata.prompt_token_count, reply.usage_metadata.candidates_token_count

    def stream(self, prompt: str) -> list[str]:
        return [
            chunk.text or "" for chunk in self.client.models.generate_content_stream(model=self.model, contents=prompt)
        ]

    def tool_turn(self, prompt: str, weather: Weather) -> str:
        return self._loop(prompt, weather, self._ask)[0]

    def tool_turn_streamed(self, prompt: str, weather: Weather) -> str:
        return self._loop(prompt, weather, self._ask_streaming)[0]

    def reasoning(self, prompt: str, weather: Weather) -> tuple[str, str]:
        thinking = types.ThinkingConfig(include_thoughts=True, thinking_budget=1024)
        return self._loop(prompt, weather, self._ask_streaming, thinking_config=thinking)

    def _ask(self, contents: list[Any], config: Any) -> list[types.Part]:
        reply = self.client.models.generate_content(model=self.model, contents=contents, config=config)
        return reply.candidates[0].content.parts

    def _ask_streaming(self, contents: list[Any], config: Any) -> list[types.Part]:
        parts: list[types.Part] = []
        for chunk in self.client.models.generate_content_stream(model=self.model, contents=contents, config=config):
            content = chunk.candidates[0].content
            parts += (content and content.parts) or []
        return parts

    def _loop(self, prompt: str, weather: Weather, ask: Any, **options: Any) -> tuple[str, str]:
        contents = [types.Content(role="user", parts=[types.Part(text=prompt)])]
        config = types.GenerateContentConfig(tools=self.tools, **options)
        thoughts = ""
        while True:
            parts = ask(contents, config)
            thoughts += "".join(part.text or "" for part in parts if part.thought)
            calls = [part.function_call for part in parts if part.function_call]
            if not calls:
                return "".join(part.text or "" for part in parts if not part.thought), thoughts
            contents.append(types.Content(role="model", parts=parts))
            contents.append(self._answers(calls, weather))

    def _answers(self, calls: Any, weather: Weather) -> types.Content:
        parts = []
        for call in calls:
            answer = types.FunctionResponse(id=call.id, name=call.name, response={"result": weather(**call.args)})
            parts.append(types.Part(function_response=answer))
        return types.Content(role="user", parts=parts)

    def structured(self, prompt: str) -> dict[str, Any]:
        config = types.GenerateContentConfig(response_mime_type="application/json", response_schema=Degrees)
        return self.client.models.generate_content(model=self.model, contents=prompt, config=config).parsed.model_dump()


class AutomaticCalls(GenerateContent):
    """Functions given as tools: the package calls them and asks on; in a chat it keeps the history too."""

    def _config(self, weather: Weather) -> types.GenerateContentConfig:
        def weather_of(city: str) -> str:
            """Tells the weather of a city."""
            return weather(city)

        weather_of.__name__ = "weather"
        return types.GenerateContentConfig(tools=[weather_of])

    def plain(self, prompt: str) -> tuple[str, int, int]:
        reply = self.client.chats.create(model=self.model).send_message(prompt)
        return reply.text, reply.usage_metadata.prompt_token_count, reply.usage_metadata.candidates_token_count

    def stream(self, prompt: str) -> list[str]:
        return [chunk.text or "" for chunk in self.client.chats.create(model=self.model).send_message_stream(prompt)]

    def tool_turn(self, prompt: str, weather: Weather) -> str:
        return self.client.chats.create(model=self.model, config=self._config(weather)).send_message(prompt).text

    def tool_turn_streamed(self, prompt: str, weather: Weather) -> str:
        chat = self.client.chats.create(model=self.model, config=self._config(weather))
        return "".join(chunk.text or "" for chunk in chat.send_message_stream(prompt))

    def reasoning(self, prompt: str, weather: Weather) -> tuple[str, str]:
        config = self._config(weather)
        config.thinking_config = types.ThinkingConfig(include_thoughts=True)
        chat = self.client.chats.create(model=self.model, config=config)
        reply = chat.send_message(prompt)
        parts = [part for content in chat.get_history() for part in content.parts]
        return reply.text, "".join(part.text or "" for part in parts if part.thought)

    def structured(self, prompt: str) -> dict[str, Any]:
        config = types.GenerateContentConfig(
            response_mime_type="application/json", response_json_schema=Degrees.model_json_schema()
        )
        reply = self.client.models.generate_content(model=self.model, contents=prompt, config=config)
        return reply.parsed


main({"generate_content": GenerateContent, "chats": AutomaticCalls})
