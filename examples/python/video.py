"""Creates a video, waits for it and saves it, with the standard library."""

import json
import os
import sys
import time
import urllib.request
import uuid

ADDRESS = os.environ.get("SWITCHYARD_ADDRESS", "http://127.0.0.1:8787")
KEY = os.environ["SWITCHYARD_KEY"]
MODEL = os.environ.get("SWITCHYARD_MODEL", "sandbox/video-1")


def call(method, path, body=None):
    """Sends JSON and returns the parsed answer. Raises urllib.error.HTTPError for an error status."""
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    if method == "POST":
        # With this key, a repeat of the request after a lost answer returns the same task.
        headers["Idempotency-Key"] = str(uuid.uuid4())
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(ADDRESS + path, data, headers, method=method)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


task = call("POST", "/v1/videos", {"model": MODEL, "prompt": "A lighthouse at dusk", "duration": 5})
print("Created:", task["status"])
while task["status"] == "pending":
    time.sleep(1)
    task = call("GET", f"/v1/videos/{task['id']}")
print("Ended:", task["status"])
if task["status"] != "completed":
    sys.exit(str(task.get("error")))

file = sys.argv[1] if len(sys.argv) > 1 else "video.mp4"
content = urllib.request.Request(f"{ADDRESS}/v1/videos/{task['id']}/content", headers={"Authorization": f"Bearer {KEY}"})
with urllib.request.urlopen(content) as response, open(file, "wb") as out:
    size = out.write(response.read())
print(f"Saved: {size} bytes")
