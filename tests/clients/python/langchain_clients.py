"""LangChain: `langchain-openai` (chat and responses), `langchain-anthropic`, `langchain-google-genai`."""

from typing import Any

from harness import Place, Weather, main
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from pydantic import BaseModel


class Degrees(BaseModel):
    """The weather of a city."""

    city: str
    degrees: int


def weather_tool(answers: Weather) -> Any:
    @tool
    def weather(city: str) -> str:
        """Tells the weather of a city."""
        return answers(city)

    return weather


class LangChain:
    shows_thoughts = True

    def __init__(self, place: Place) -> None:
        self.place = place
        self.chat = self.open(place)

    @staticmethod
    def shown(error: Exception) -> tuple[str, Any, str]:
        status = getattr(error, "status_code", None) or getattr(error.__cause__, "code", None)
        return type(error).__name__, status, str(error)

    def plain(self, prompt: str) -> tuple[str, int, int]:
        reply = self.chat.invoke(prompt)
        return reply.text, reply.usage_metadata["input_tokens"], reply.usage_metadata["output_tokens"]

    def stream(self, prompt: str) -> list[str]:
        return [chunk.text for chunk in self.chat.stream(prompt)]

    def tool_turn(self, prompt: str, weather: Weather) -> str:
        return self._loop(self.chat, prompt, weather, lambda bound, messages: bound.invoke(messages))[0]

    def tool_turn_streamed(self, prompt: str, weather: Weather) -> str:
        return self._loop(self.chat, prompt, weather, added)[0]

    def reasoning(self, prompt: str, weather: Weather) -> Any:
        text, thoughts = self._loop(self.open(self.place, **self.thinking), prompt, weather, added)
        return (text, thoughts) if self.shows_thoughts else text

    def _loop(self, chat: Any, prompt: str, weather: Weather, ask: Any) -> tuple[str, str]:
        weather_of = weather_tool(weather)
        bound = chat.bind_tools([weather_of])
        messages: list[Any] = [HumanMessage(prompt)]
        thoughts = ""
        while True:
            reply = ask(bound, messages)
            blocks = [block for block in reply.content_blocks if block["type"] == "reasoning"]
            thoughts += "".join(block.get("reasoning", "") for block in blocks)
            if not reply.tool_calls:
                return reply.text, thoughts
            messages.append(reply)
            messages += [weather_of.invoke(call) for call in reply.tool_calls]

    def structured(self, prompt: str) -> dict[str, Any]:
        by_schema = self.chat.with_structured_output(Degrees, method="json_schema").invoke(prompt)
        by_call = self.chat.with_structured_output(Degrees, method="function_calling").invoke(prompt)
        assert isinstance(by_call, Degrees), by_call
        return by_schema.model_dump()


def added(bound: Any, messages: list[Any]) -> Any:
    whole = None
    for chunk in bound.stream(messages):
        whole = chunk if whole is None else whole + chunk
    return whole


class OpenAIChat(LangChain):
    shows_thoughts = False
    thinking: dict[str, Any] = {"reasoning_effort": "high"}
    errors = {
        "unknown": "OpenAIModelNotFoundError",
        "refused": "OpenAIInvalidRequestError",
        "limited": "OpenAIRateLimitError",
    }

    def open(self, place: Place, **more: Any) -> Any:
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(
            model=place.model,
            base_url=place.openai,
            api_key=place.key,
            max_retries=0,
            stream_usage=True,
            use_responses_api=False,
            **more,
        )


class OpenAIResponses(OpenAIChat):
    shows_thoughts = True
    thinking = {
        "reasoning": {"effort": "high", "summary": "detailed"},
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }

    def open(self, place: Place, **more: Any) -> Any:
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(
            model=place.model,
            base_url=place.openai,
            api_key=place.key,
            max_retries=0,
            use_responses_api=True,
            **more,
        )


class Anthropic(LangChain):
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    errors = {
        "unknown": "AnthropicModelNotFoundError",
        "refused": "AnthropicInvalidRequestError",
        "limited": "AnthropicRateLimitError",
    }

    def open(self, place: Place, **more: Any) -> Any:
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(model=place.model, base_url=place.anthropic, api_key=place.key, max_retries=0, max_tokens=4000, **more)


class Google(LangChain):
    thinking = {"include_thoughts": True, "thinking_budget": 1024}
    errors = {
        "unknown": "GoogleModelNotFoundError",
        "refused": "GoogleInvalidRequestError",
        "limited": "GoogleRateLimitError",
    }

    def open(self, place: Place, **more: Any) -> Any:
        from langchain_google_genai import ChatGoogleGenerativeAI

        return ChatGoogleGenerativeAI(model=place.model, base_url=place.google, google_api_key=place.key, max_retries=1, **more)


main({"openai chat": OpenAIChat, "openai responses": OpenAIResponses, "anthropic": Anthropic, "google-genai": Google})
