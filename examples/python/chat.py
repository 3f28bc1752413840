"""A chat completion through Switchyard with the standard library: first whole, then streamed."""

import json
import os
import urllib.request

ADDRESS = os.environ.get("SWITCHYARD_ADDRESS", "http://127.0.0.1:8787")
KEY = os.environ["SWITCHYARD_KEY"]
MODEL = os.environ.get("SWITCHYARD_MODEL", "sandbox/chat-1")


def post(path, body):
    """Posts JSON and returns the open response. Raises urllib.error.HTTPError for an error status."""
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    return urllib.request.urlopen(urllib.request.Request(ADDRESS + path, json.dumps(body).encode(), headers))


request = {"model": MODEL, "messages": [{"role": "user", "content": "Say hello"}]}

with post("/v1/chat/completions", request) as response:
    reply = json.load(response)
print("Whole:", reply["choices"][0]["message"]["content"])

# A stream is lines of `data: {…}`, separated by empty lines, and ends with `data: [DONE]`.
text, usage = "", None
with post("/v1/chat/completions", {**request, "stream": True, "stream_options": {"include_usage": True}}) as response:
    for line in response:
        data = line.decode().strip().removeprefix("data: ")
        if data == "[DONE]":
            break
        if not data.startswith("{"):
            continue
        chunk = json.loads(data)
        for choice in chunk["choices"]:
            text += choice["delta"].get("content") or ""
        usage = chunk.get("usage") or usage
print("Streamed:", text)
print("Tokens:", usage["total_tokens"])
