"""`instructor` on the packages of the three families."""

from typing import Any

import instructor
from harness import Place, main
from instructor import Mode
from pydantic import BaseModel


class Degrees(BaseModel):
    """The weather of a city."""

    city: str
    degrees: int


class Instructor:
    errors = {"unknown": "NotFoundError", "refused": "BadRequestError", "limited": "RateLimitError"}
    options: dict[str, Any] = {}

    def __init__(self, place: Place) -> None:
        self.place = place

    @staticmethod
    def shown(error: Exception) -> tuple[str, Any, str]:
        status = getattr(error, "status_code", None) or getattr(error, "code", None)
        return type(error).__name__, status, str(error)

    def plain(self, prompt: str) -> str:
        return self.text_of(self._ask(prompt, None, self.modes[0]))

    def structured(self, prompt: str) -> dict[str, Any]:
        """In each mode that puts a schema into the request, and as a stream of ever more complete objects."""
        for mode in self.modes:
            assert isinstance(self._ask(prompt, Degrees, mode), Degrees), mode
        parts = list(
            self.client(self.modes[0]).create_partial(
                response_model=Degrees, messages=[{"role": "user", "content": prompt}], **self._options()
            )
        )
        return parts[-1].model_dump()

    def _ask(self, prompt: str, response_model: Any, mode: Mode) -> Any:
        return self.client(mode).create(
            response_model=response_model,
            messages=[{"role": "user", "content": prompt}],
            max_retries=0,
            **self._options(),
        )

    def _options(self) -> dict[str, Any]:
        return {"model": self.place.model, **self.options}


class OpenAI(Instructor):
    modes = (Mode.TOOLS, Mode.TOOLS_STRICT, Mode.JSON_SCHEMA)

    def client(self, mode: Mode) -> Any:
        from openai import OpenAI as Client

        place = self.place
        return instructor.from_openai(Client(base_url=place.openai, api_key=place.key, max_retries=0), mode=mode)

    @staticmethod
    def text_of(reply: Any) -> str:
        return reply.choices[0].message.content


class OpenAIResponses(OpenAI):
    modes = (Mode.RESPONSES_TOOLS,)

    def plain(self, prompt: str) -> str:
        return self._ask(prompt, None, Mode.RESPONSES_TOOLS).output_text


class Anthropic(Instructor):
    modes = (Mode.ANTHROPIC_TOOLS,)
    options = {"max_tokens": 1000}

    def client(self, mode: Mode) -> Any:
        from anthropic import Anthropic as Client

        place = self.place
        return instructor.from_anthropic(Client(base_url=place.anthropic, api_key=place.key, max_retries=0), mode=mode)

    @staticmethod
    def text_of(reply: Any) -> str:
        return reply.content[-1].text


class Google(Instructor):
    errors = dict.fromkeys(("unknown", "refused", "limited"), "ClientError")
    modes = (Mode.GENAI_TOOLS, Mode.GENAI_STRUCTURED_OUTPUTS)

    def client(self, mode: Mode) -> Any:
        from google import genai

        place = self.place
        return instructor.from_genai(
            genai.Client(api_key=place.key, http_options=genai.types.HttpOptions(base_url=place.google)), mode=mode
        )

    @staticmethod
    def text_of(reply: Any) -> str:
        return reply.text


main({"openai": OpenAI, "openai responses": OpenAIResponses, "anthropic": Anthropic, "google-genai": Google})
