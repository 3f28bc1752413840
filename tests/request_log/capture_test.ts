import { Buffer } from "node:buffer";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { BodyCapture, CaptureMemory } from "../../src/platform/http/request/body_capture.ts";
import type { RequestRecord } from "../../src/platform/http/request/request_record.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { UndecryptableError } from "../../src/platform/lib/bytes/byte_cipher.ts";
import { BodyCipher } from "../../src/observers/request_log/body_cipher.ts";
import { BodyFile } from "../../src/observers/request_log/sqlite/body_file.ts";
import { openTestLog, recordOf, type TestFacts } from "./support.ts";

const SECRET = "the-secret-of-the-operator";
const ENCODER = new TextEncoder();

function bytesOf(text: string): ArrayBuffer {
  return ENCODER.encode(text).buffer;
}

function settings(path = ":memory:", change = {}) {
  return { path, secret: SECRET, retentionMs: 86_400_000, maxBytes: 1e9, ...change };
}

function message(requestId: string, request: string, fields = {}) {
  return {
    type: "bodies" as const,
    requestId,
    accountId: "acme",
    at: Date.now(),
    request: bytesOf(request),
    response: null,
    isCut: false,
    ...fields,
  };
}

Deno.test("BodyCapture copies at most its limit, however the response is divided", () => {
  fc.assert(fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 10 }), (parts) => {
    const capture = new BodyCapture("all", 64);
    for (const part of parts) {
      capture.addResponse(part);
      part.fill(0xee); // buffers are used again
    }
    const kept = capture.take(false);
    const total = parts.reduce((sum, { length }) => sum + length, 0);
    assertEquals(kept?.response?.length ?? 0, Math.min(total, 64));
    assertEquals(kept?.isCut ?? false, total > 64);
  }));
});

Deno.test("all captures of open requests hold at most the limit together, and give it back with their requests", () => {
  const size = fc.integer({ min: 0, max: 300 });
  fc.assert(fc.property(fc.array(fc.tuple(size, size, fc.boolean()), { maxLength: 30 }), (requests) => {
    const memory = new CaptureMemory(1_000);
    const open: RequestRecord[] = [];
    let held = 0;
    for (const [requestBytes, responseBytes, isLast] of requests) {
      const record = recordOf();
      record.capture = new BodyCapture("all", 200, memory);
      record.capture.takeRequest(new Uint8Array(requestBytes));
      record.capture.addResponse(new Uint8Array(responseBytes));
      const kept = record.capture.take(false);
      const bytes = (kept?.request?.length ?? 0) + (kept?.response?.length ?? 0);
      const whole = Math.min(requestBytes, 200) + Math.min(responseBytes, 200);
      assertEquals(bytes, Math.min(whole, 1_000 - held));
      assertEquals(kept?.isCut ?? false, bytes < requestBytes + responseBytes);
      held += bytes;
      open.push(record);
      if (!isLast) continue;
      for (const each of open.splice(0)) each.release();
      held = 0;
    }
  }));
});

Deno.test("bytes that come after the end of a request take no memory", () => {
  const memory = new CaptureMemory(100);
  const capture = new BodyCapture("all", 100, memory);
  capture.release();
  capture.addResponse(new Uint8Array(60));
  assertEquals(memory.take(100), 100);
});

Deno.test("BodyCapture keeps only failures if only errors are captured", () => {
  const capture = new BodyCapture("errors", 64);
  capture.takeRequest(ENCODER.encode("{}"));
  assertEquals(capture.take(false), null);
  assertEquals(capture.take(true)?.request, ENCODER.encode("{}"));
});

Deno.test("an encrypted body is read only with its secret and for its request", () => {
  const cipher = new BodyCipher(SECRET);
  const body = ENCODER.encode("a prompt ".repeat(50));
  const stored = cipher.encrypt(body, "req_1");
  assertEquals(new Uint8Array(cipher.decrypt(stored, "req_1")), body);
  assert(!new TextDecoder().decode(stored).includes("prompt"));
  assertThrows(() => cipher.decrypt(stored, "req_2"), UndecryptableError);
  assertThrows(() => new BodyCipher("another-secret-0001").decrypt(stored, "req_1"), UndecryptableError);
  stored[40]! ^= 1;
  assertThrows(() => cipher.decrypt(stored, "req_1"), UndecryptableError);
});

Deno.test("stored bodies have no secrets, and their file has no text of them", async () => {
  const folder = await Deno.makeTempDir();
  const file = new BodyFile(settings(`${folder}/bodies`));
  file.add(message("req_1", '{"note":"my key is sk-abcdefghij0123456789, keep it"}'));
  assertEquals(file.get("req_1"), {
    request: '{"note":"my key is [redacted], keep it"}',
    response: null,
    isCut: false,
  });
  assertEquals(file.get("req_2"), null);
  file.checkpoint();
  file.close();
  for await (const { name } of Deno.readDir(folder)) {
    assert(!new TextDecoder("latin1").decode(await Deno.readFile(`${folder}/${name}`)).includes("keep it"), name);
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("bodies that are too old or too many are removed, the oldest first, and those of an account at once", () => {
  const now = Date.now();
  const file = new BodyFile(settings(":memory:", { retentionMs: 1_000, maxBytes: 400 }));
  file.add(message("req_old", "x", { at: now - 5_000 }));
  assertEquals([file.trim(now), file.get("req_old")], [false, null]);
  for (let nth = 0; nth < 250; nth++) file.add(message(`req_${nth}`, crypto.randomUUID(), { at: now + nth }));
  while (file.trim(now + 500)); // at most a hundred in one step
  assertEquals(file.get("req_0"), null);
  file.add(message("req_last", "x", { at: now + 900 }));
  assertEquals(file.deleteOf("acme") > 0, true);
  assertEquals(file.get("req_last"), null);
  file.close();
});

Deno.test("the log keeps the bodies of requests with a capture, and removes them with the account", async () => {
  const { log } = openTestLog({ bodies: settings() });
  const captured = (facts: TestFacts) => {
    const capture = new BodyCapture("errors", 1_000);
    capture.takeRequest(ENCODER.encode(`{"prompt":"hello"}`));
    capture.addResponse(ENCODER.encode(`{"error":{}}`));
    return recordOf({ ...facts, capture });
  };
  log.observe(captured({ requestId: "req_ok", status: 200, end: "completed" }));
  log.observe(captured({ requestId: "req_bad", status: 502 }));
  log.observe(captured({ requestId: "req_cut", status: 200, end: "cut" }));
  log.observe(recordOf({ requestId: "req_plain", status: 502 }));
  const kept = { request: `{"prompt":"hello"}`, response: `{"error":{}}`, isCut: false };
  assertEquals(await log.bodies("req_ok"), null);
  assertEquals(await log.bodies("req_bad"), kept);
  assertEquals(await log.bodies("req_cut"), kept);
  assertEquals(await log.bodies("req_plain"), null);
  assertEquals(await log.deleteAccount("acme"), 4);
  assertEquals(await log.bodies("req_bad"), null);
  await log.close();
});

Deno.test("a changed secret is an error when bodies are read, and nothing else", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/requests`;
  const capture = new BodyCapture("all", 100);
  capture.takeRequest(ENCODER.encode("{}"));
  const first = openTestLog({ path, bodies: settings(`${path}.bodies`) }).log;
  first.observe(recordOf({ requestId: "req_1", capture }));
  assertEquals((await first.bodies("req_1"))?.request, "{}");
  await first.close();
  const second = openTestLog({ path, bodies: settings(`${path}.bodies`, { secret: "another-secret-0001" }) }).log;
  await assertRejects(() => second.bodies("req_1"), GatewayError, "the key of the configuration does not fit");
  assertEquals((await second.get("req_1"))?.requestId, "req_1");
  await second.close();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("capture: a body in a buffer of Node.js is copied, too", () => {
  const capture = new BodyCapture("all", 100);
  const [request, response] = [Buffer.from("question"), Buffer.from("answer")];
  capture.takeRequest(request);
  capture.addResponse(response);
  request.fill(0);
  response.fill(0);
  const taken = capture.take(false);
  const textOf = (bytes: Uint8Array | null | undefined) => new TextDecoder().decode(bytes ?? undefined);
  assertEquals([textOf(taken?.request), textOf(taken?.response)], ["question", "answer"]);
  assertEquals(taken?.request?.buffer.byteLength, 8);
});
