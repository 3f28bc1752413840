"""`openai`: files, uploads and batches."""

import json
from typing import Any

import openai
from batch_worker import MAX_TOKENS, Place, check, equal, lines_of, main, reply, until

URL = "/v1/chat/completions"
ENDED = ("completed", "failed", "expired", "cancelled")


def batches(place: Place, questions: dict[str, str]) -> list[dict[str, Any]]:
    client = openai.OpenAI(base_url=f"{place.address}/v1", api_key=place.key, max_retries=0)
    lines = [
        {
            "custom_id": name,
            "method": "POST",
            "url": URL,
            "body": {
                "model": place.model,
                "messages": [{"role": "user", "content": text}],
                "max_completion_tokens": MAX_TOKENS,
            },
        }
        for name, text in questions.items()
    ]
    content = "\n".join(json.dumps(line) for line in lines).encode()
    files(client, content)
    # The helper of the package cuts the file into parts.
    upload = client.uploads.upload_file_chunked(
        file=content,
        filename="in.jsonl",
        bytes=len(content),
        mime_type="application/jsonl",
        purpose="batch",
        part_size=100,
    )
    equal(upload.status, "completed", "status of the upload")
    assert upload.file is not None
    batch = client.batches.create(
        input_file_id=upload.file.id, endpoint=URL, completion_window="24h", metadata={"order": "A-17"}
    )
    check(batch.id in [each.id for each in client.batches.list(limit=1)], "the list of batches lacks it")
    batch = until(lambda: client.batches.retrieve(batch.id), lambda found: found.status in ENDED)
    equal(batch.status, "completed", "status of the batch")
    equal(batch.metadata, {"order": "A-17"}, "metadata")
    counts = batch.request_counts
    assert counts is not None and batch.output_file_id is not None
    equal((counts.total, counts.completed, counts.failed), (len(questions), len(questions), 0), "counts")
    equal(batch.error_file_id, None, "file of errors")
    output = client.files.content(batch.output_file_id)
    client.files.delete(batch.output_file_id)
    cancelled(client, upload.file.id)
    return [answer(line) for line in lines_of(output.text)]


def files(client: openai.OpenAI, content: bytes) -> None:
    lifetime: Any = {"anchor": "created_at", "seconds": 3600}
    file = client.files.create(file=("a.jsonl", content), purpose="batch", expires_after=lifetime)
    equal(client.files.retrieve(file.id).bytes, len(content), "size")
    processed = client.files.wait_for_processing(file.id, poll_interval=0.1, max_wait_seconds=10)
    equal(processed.status, "processed", "status")
    check(file.id in [each.id for each in client.files.list(purpose="batch")], "the list of files lacks it")
    equal(client.files.content(file.id).read(), content, "content")
    equal(client.files.delete(file.id).deleted, True, "deleted")
    try:
        client.files.retrieve(file.id)
    except openai.NotFoundError:
        return
    raise AssertionError("a deleted file is found")


def cancelled(client: openai.OpenAI, file: str) -> None:
    """A batch that has ended cannot be cancelled."""
    ended = next(iter(client.batches.list(limit=1)))
    equal(ended.input_file_id, file, "input file")
    try:
        client.batches.cancel(ended.id)
    except openai.ConflictError:
        return
    raise AssertionError("a batch that has ended is cancelled")


def answer(line: Any) -> dict[str, Any]:
    equal((line["response"]["status_code"], line["error"]), (200, None), line["custom_id"])
    body = line["response"]["body"]
    usage = body["usage"]
    return reply(
        line["custom_id"], body["choices"][0]["message"]["content"], usage["prompt_tokens"], usage["completion_tokens"]
    )


main({"batches": batches})
