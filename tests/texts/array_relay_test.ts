import { passRelayOf } from "./support.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { StreamTransform } from "../../src/services/calls/stream_relay.ts";
import { ArrayRelay } from "../../src/services/texts/relay/array_relay.ts";
import type { PassRelay } from "../../src/services/texts/relay/pass_relay.ts";
import { type AdmissionRecorder, admissionRecorder, attemptOf, cutAt, relayAll, REPLY, wireOf } from "./support.ts";
import { UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";

function passRelay(recorder: AdmissionRecorder): PassRelay {
  return passRelayOf(attemptOf("content", { recorder }));
}

/** A relay without output. */
const SILENT: StreamTransform = {
  memory: UNLIMITED_MEMORY.lease("demo"),
  finished: false,
  take: () => null,
  end: () => Promise.resolve(null),
  fail: () => Promise.resolve(null),
  onDisconnect() {},
  heartbeat: () => null,
};

Deno.test("ArrayRelay writes one JSON list of all chunks, wherever reads are split", async () => {
  const wire = wireOf("content", REPLY, "\r\n");
  const chunks = wire.split("\r\n\r\n").filter((frame) => frame !== "").map((frame) => JSON.parse(frame.slice(6)));
  const { length } = new TextEncoder().encode(wire);
  for (let at = 1; at < length; at += 5) {
    const recorder = admissionRecorder();
    const text = await relayAll(new ArrayRelay(passRelay(recorder)), cutAt(wire, [at / length]));
    assertEquals(JSON.parse(text), chunks);
    assertEquals(recorder.charges.length, 1);
  }
});

Deno.test("ArrayRelay stays valid JSON if the stream is incomplete, fails, or contains other data", async () => {
  const wire = new TextEncoder().encode(wireOf("content", REPLY));
  for (let at = 0; at < wire.length / 2; at += 11) {
    const list = JSON.parse(await relayAll(new ArrayRelay(passRelay(admissionRecorder())), [wire.slice(0, at)]));
    assertStringIncludes(list.at(-1).error.message, "ended the stream before");
  }
  const odd = new TextEncoder().encode("data: {}\n\ndata: {half\n\ndata: [DONE]\n\n");
  assertEquals(JSON.parse(await relayAll(new ArrayRelay(passRelay(admissionRecorder())), [odd])).length, 2);
  const relay = new ArrayRelay(passRelay(admissionRecorder()));
  await relay.take(odd);
  assertEquals(relay.heartbeat(), null);
  assert(new TextDecoder().decode((await relay.fail(new TypeError("broken")))!).endsWith("\n]"));
  const endless = new TextEncoder().encode(`data: ${"x".repeat(17 * 1024 * 1024)}`);
  const last = JSON.parse(await relayAll(new ArrayRelay(passRelay(admissionRecorder())), [endless, endless]));
  assertStringIncludes(last.at(-1).error.message, "invalid response");
  assertEquals(await relayAll(new ArrayRelay(SILENT), []), "[]");
});

Deno.test("ArrayRelay passes an event with a picture of more than a megabyte", async () => {
  const data = "A".repeat(2 * 1024 * 1024);
  const chunk = { candidates: [{ content: { parts: [{ inlineData: { mimeType: "image/png", data } }] } }] };
  const wire = new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`);
  const list = JSON.parse(await relayAll(new ArrayRelay(passRelay(admissionRecorder())), [wire]));
  assertEquals(list[0], chunk);
});
