"""`anthropic`: files and batches of messages."""

from typing import Any

import anthropic
from batch_worker import MAX_TOKENS, Place, check, equal, main, reply, until


def batches(place: Place, questions: dict[str, str]) -> list[dict[str, Any]]:
    client = anthropic.Anthropic(base_url=f"{place.address}/msgcompat", api_key=place.key, max_retries=0)
    for resource in (client.files, client.beta.files):
        files(resource)
    created = client.messages.batches.create(
        requests=[
            {
                "custom_id": name,
                "params": {
                    "model": place.model,
                    "max_tokens": MAX_TOKENS,
                    "messages": [{"role": "user", "content": text}],
                },
            }
            for name, text in questions.items()
        ]
    )
    equal(created.processing_status, "in_progress", "status at first")
    check(created.id in [each.id for each in client.messages.batches.list(limit=1)], "the list of batches lacks it")
    batch = until(
        lambda: client.messages.batches.retrieve(created.id), lambda found: found.processing_status == "ended"
    )
    equal((batch.request_counts.succeeded, batch.request_counts.errored), (len(questions), 0), "counts")
    equal(client.beta.messages.batches.retrieve(batch.id).id, batch.id, "id by the beta resource")
    check(batch.ended_at is not None and batch.ended_at >= batch.created_at, "time of the end")
    replies = [answer(each) for each in client.messages.batches.results(batch.id)]
    try:
        client.messages.batches.cancel(batch.id)
        raise AssertionError("a batch that has ended is cancelled")
    except anthropic.ConflictError:
        pass
    equal(client.messages.batches.delete(batch.id).type, "message_batch_deleted", "type of the deletion")
    return replies


def files(resource: Any) -> None:
    file = resource.upload(file=("a.txt", b"Hello", "text/plain"))
    equal(resource.retrieve_metadata(file.id).size_bytes, 5, "size")
    check(file.id in [each.id for each in resource.list()], "the list of files lacks it")
    try:
        resource.download(file.id)
        raise AssertionError("a file that was uploaded is downloaded")
    except anthropic.BadRequestError:
        pass
    equal(resource.delete(file.id).type, "file_deleted", "type of the deletion")


def answer(each: Any) -> dict[str, Any]:
    equal(each.result.type, "succeeded", each.custom_id)
    usage = each.result.message.usage
    prompt = usage.input_tokens + (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    text = "".join(block.text for block in each.result.message.content if block.type == "text")
    return reply(each.custom_id, text, prompt, usage.output_tokens)


main({"batches": batches})
