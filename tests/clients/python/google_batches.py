"""`google-genai`: files and batches."""

import json
import pathlib
from typing import Any

from batch_worker import MAX_TOKENS, Place, check, equal, lines_of, main, reply, until
from google import genai
from google.genai import errors, types

ENDED = ("JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED", "JOB_STATE_CANCELLED", "JOB_STATE_EXPIRED")


def client_of(place: Place) -> genai.Client:
    return genai.Client(
        api_key=place.key, vertexai=False, http_options=types.HttpOptions(base_url=f"{place.address}/gencompat")
    )


def ended(client: genai.Client, name: str) -> types.BatchJob:
    check(name in [job.name for job in client.batches.list(config={"page_size": 1})], "the list of batches lacks it")
    job = until(lambda: client.batches.get(name=name), lambda found: found.state.name in ENDED)
    equal(job.state.name, "JOB_STATE_SUCCEEDED", "state")
    check(job.done is True, "the batch is not done")
    return job


def of_file(place: Place, questions: dict[str, str]) -> list[dict[str, Any]]:
    client = client_of(place)
    path = pathlib.Path(place.folder) / "in.jsonl"
    lines = [
        {
            "key": name,
            "request": {
                "contents": [{"role": "user", "parts": [{"text": text}]}],
                "generationConfig": {"maxOutputTokens": MAX_TOKENS},
            },
        }
        for name, text in questions.items()
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines))
    file = client.files.upload(file=path, config={"mime_type": "application/jsonl", "display_name": "in"})
    equal(client.files.get(name=file.name).size_bytes, path.stat().st_size, "size")
    check(file.name in [each.name for each in client.files.list()], "the list of files lacks it")
    created = client.batches.create(model=place.model, src=file.name, config={"display_name": "of a file"})
    equal(created.display_name, "of a file", "display name")
    job = ended(client, created.name)
    text = client.files.download(file=job.dest.file_name).decode()
    for name in (job.dest.file_name, file.name):
        client.files.delete(name=name)
    try:
        client.files.get(name=file.name)
        raise AssertionError("a deleted file is found")
    except errors.ClientError as error:
        check(error.code in (403, 404), f"code {error.code}")
    return [
        answer(line["key"], types.GenerateContentResponse.model_validate(line["response"])) for line in lines_of(text)
    ]


def of_list(place: Place, questions: dict[str, str]) -> list[dict[str, Any]]:
    client = client_of(place)
    created = client.batches.create(
        model=place.model,
        src=[
            types.InlinedRequest(
                contents=[types.Content(role="user", parts=[types.Part(text=text)])],
                config=types.GenerateContentConfig(max_output_tokens=MAX_TOKENS),
                metadata={"key": name},
            )
            for name, text in questions.items()
        ],
    )
    job = ended(client, created.name)
    replies = [answer(each.metadata["key"], each.response) for each in job.dest.inlined_responses]
    # As at Google, cancelling one that has ended changes nothing.
    client.batches.cancel(name=created.name)
    client.batches.delete(name=created.name)
    try:
        client.batches.get(name=created.name)
        raise AssertionError("a deleted batch is found")
    except errors.ClientError as error:
        equal(error.code, 404, "code")
    return replies


def answer(name: str, response: types.GenerateContentResponse) -> dict[str, Any]:
    usage = response.usage_metadata
    output = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
    return reply(name, response.text, usage.prompt_token_count, output)


main({"batches of a file": of_file, "batches of a list": of_list})
