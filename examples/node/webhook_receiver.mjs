// Receives webhooks of video tasks and verifies their signatures. It needs no package.
//
// WEBHOOK_SECRET: the secret of your account, `whsec_…`.
// PORT: where to listen. Default 8000; 0 picks a free port.
// TLS_CERT_FILE, TLS_KEY_FILE: serve https with these. Without them, put a proxy with https in front.
import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import process from "node:process";

const MAX_AGE_SECONDS = 300;
const { WEBHOOK_SECRET: secret, PORT: port = "8000", TLS_CERT_FILE: cert, TLS_KEY_FILE: key } = process.env;
if (!secret) throw new Error("Set WEBHOOK_SECRET to the webhook secret of your account");

// A secret that Switchyard made is base64 behind its prefix. A secret of your own is used as it is.
const signingKey = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret);

/** Whether the event is from Switchyard and at most five minutes old. `body` is the raw body, not the parsed one. */
function isGenuine(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures = "" } = headers;
  const ageSeconds = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(ageSeconds <= MAX_AGE_SECONDS)) return false;
  const expected = createHmac("sha256", signingKey).update(`${id}.${timestamp}.`).update(body).digest();
  // After a rotation of the secret there are two signatures for a day, separated by a space.
  return signatures.split(" ").some((signature) => {
    const sent = Buffer.from(signature.replace(/^v1,/, ""), "base64");
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  });
}

// Events can arrive more than once. A real receiver keeps these keys in its database.
const seen = new Set();

async function receive(request, response) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const body = Buffer.concat(pieces);
  if (request.method !== "POST" || !isGenuine(request.headers, body)) {
    console.log("Refused: the signature is wrong or too old");
    response.writeHead(401).end();
    return;
  }
  // Any 2xx acknowledges the event. Answer first, work later: slow answers count as failed attempts.
  response.writeHead(204).end();
  const idempotencyKey = request.headers["x-service-idempotency-key"];
  if (seen.has(idempotencyKey)) return;
  seen.add(idempotencyKey);
  const event = JSON.parse(body);
  console.log(`Received: ${event.event} of task ${event.id}, status ${event.data.status}`);
}

const server = cert && key
  ? createHttpsServer({ cert: readFileSync(cert), key: readFileSync(key) }, receive)
  : createHttpServer(receive);
server.listen(Number(port), "127.0.0.1", () => console.log(`Listening on port ${server.address().port}`));
