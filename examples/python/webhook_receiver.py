"""Receives webhooks of video tasks and verifies their signatures, with the standard library.

WEBHOOK_SECRET: the secret of your account, `whsec_…`.
PORT: where to listen. Default 8000; 0 picks a free port.
TLS_CERT_FILE, TLS_KEY_FILE: serve https with these. Without them, put a proxy with https in front.
"""

import base64
import hashlib
import hmac
import json
import os
import ssl
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_AGE_SECONDS = 300
MAX_BODY_BYTES = 1_000_000
SECRET = os.environ["WEBHOOK_SECRET"]

# A secret that Switchyard made is base64 behind its prefix. A secret of your own is used as it is.
SIGNING_KEY = base64.b64decode(SECRET.removeprefix("whsec_")) if SECRET.startswith("whsec_") else SECRET.encode()

# Events can arrive more than once. A real receiver keeps these keys in its database.
seen = set()


def is_genuine(headers, body):
    """Whether the event is from Switchyard and at most five minutes old. `body` is the raw body."""
    event_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > MAX_AGE_SECONDS:
        return False
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(SIGNING_KEY, signed, hashlib.sha256).digest()).decode()
    # After a rotation of the secret there are two signatures for a day, separated by a space.
    signatures = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(each.encode(), expected.encode()) for each in signatures)


class Receiver(BaseHTTPRequestHandler):
    timeout = 30

    def do_POST(self):
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length) if length <= MAX_BODY_BYTES else b""
        if not is_genuine(self.headers, body):
            print("Refused: the signature is wrong or too old", flush=True)
            return self.answer(401)
        # Any 2xx acknowledges the event. Answer first, work later: slow answers count as failed attempts.
        self.answer(204)
        key = self.headers["X-Service-Idempotency-Key"]
        if key in seen:
            return
        seen.add(key)
        event = json.loads(body)
        print(f"Received: {event['event']} of task {event['id']}, status {event['data']['status']}", flush=True)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.wfile.flush()

    def log_message(self, *_):
        """Switches off the line that the base class logs for each request."""


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Receiver)
if "TLS_CERT_FILE" in os.environ:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.environ["TLS_CERT_FILE"], os.environ["TLS_KEY_FILE"])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(f"Listening on port {server.server_address[1]}", flush=True)
server.serve_forever()
