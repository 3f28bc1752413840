import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { newWebhookSecret } from "../../src/money/billing/accounts/webhook_secret.ts";
import { eventOf, renderEnvelope } from "../../src/services/webhooks/envelope.ts";
import { signedHeaders } from "../../src/services/webhooks/signature.ts";
import { storeTimeOf } from "../../src/platform/store/store_time.ts";

const body = new TextEncoder().encode('{"event":"video.generation.completed","prompt":"☾"}');
const event = { idempotencyKey: "0b5f3f5e-2f36-4d0a-9d56-0d8a4e6f7a11-completed", body };
const now = () => Date.now();

Deno.test("X-Service-Signature is the HMAC-SHA256 of the raw body keyed with the secret's text, in base64url", () => {
  fc.assert(fc.property(fc.uint8Array(), fc.string({ minLength: 8 }), (bytes, secret) => {
    const headers = signedHeaders({ ...event, body: bytes, sentAt: now() }, [secret]);
    const expected = createHmac("sha256", secret).update(bytes).digest("base64")
      .replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    assertEquals(headers["x-service-signature"], expected);
    assertEquals(headers["x-service-idempotency-key"], event.idempotencyKey);
  }));
});

Deno.test("the library of Standard Webhooks verifies events signed with generated secrets", () => {
  for (let round = 0; round < 20; round++) {
    const secret = newWebhookSecret();
    const headers = signedHeaders({ ...event, sentAt: now() }, [secret]);
    assertEquals(
      new Webhook(secret).verify(new TextDecoder().decode(body), headers),
      JSON.parse(new TextDecoder().decode(body)),
    );
    assertThrows(() => new Webhook(newWebhookSecret()).verify(new TextDecoder().decode(body), headers));
    assertThrows(() => new Webhook(secret).verify(new TextDecoder().decode(body) + " ", headers));
  }
});

Deno.test("a secret of another shape signs the standard signature with its text, the library's format raw", () => {
  for (const secret of ["an-operator's own secret", "whsec_not base64!", "whsec_", "whsec_abc"]) {
    const headers = signedHeaders({ ...event, sentAt: now() }, [secret]);
    // The library takes the prefix off by itself, so it is given the text as bytes.
    new Webhook(new TextEncoder().encode(secret), { format: "raw" }).verify(new TextDecoder().decode(body), headers);
  }
});

Deno.test("after a rotation the standard header carries both signatures, the other the new one's", () => {
  const [current, previous] = [newWebhookSecret(), newWebhookSecret()];
  const headers = signedHeaders({ ...event, sentAt: now() }, [current, previous]);
  for (const secret of [current, previous]) new Webhook(secret).verify(new TextDecoder().decode(body), headers);
  assertEquals(headers["webhook-signature"]?.split(" ").length, 2);
  const alone = signedHeaders({ ...event, sentAt: now() }, [current]);
  assertEquals(headers["x-service-signature"], alone["x-service-signature"]);
});

Deno.test("the standard timestamp is that of the attempt, and a replay of an old one is rejected", () => {
  const secret = newWebhookSecret();
  const headers = signedHeaders({ ...event, sentAt: now() - 600_000 }, [secret]);
  assertThrows(() => new Webhook(secret).verify(new TextDecoder().decode(body), headers), Error, "old");
});

Deno.test("nothing is sent without a secret to sign it with", () => {
  assertThrows(() => signedHeaders({ ...event, sentAt: now() }, []), RangeError);
});

Deno.test("the envelope has the event, the task's id, the event's second and the task object", () => {
  const task = { id: "t", status: "failed", prompt: "line\nbreak \ud800" };
  const ended = {
    taskId: "t",
    account: "a",
    status: "failed",
    callbackUrl: null,
    endedAt: storeTimeOf(1_800_000_000_999),
    task,
  } as const;
  assertEquals(JSON.parse(new TextDecoder().decode(renderEnvelope(ended))), {
    event: "video.generation.failed",
    id: "t",
    created_at: 1_800_000_000,
    data: task,
  });
  const events = (["completed", "failed", "cancelled", "expired"] as const).map(eventOf);
  assertEquals(events.map((name) => name.slice("video.generation.".length)), [
    "completed",
    "failed",
    "cancelled",
    "expired",
  ]);
});
