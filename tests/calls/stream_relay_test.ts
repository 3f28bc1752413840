import { unobservedRecord } from "../support/unobserved_record.ts";
import { passRelayOf } from "../texts/support.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type Bytes, OpenStreams, relayStream, type StreamTransform } from "../../src/services/calls/stream_relay.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import type { PassRelay } from "../../src/services/texts/relay/pass_relay.ts";
import { vendorStream } from "../../src/services/texts/send/vendor_stream.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { MemoryBudget, UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import { ManualClock, until } from "../support/manual_clock.ts";
import { FORMATS } from "../support/formats.ts";
import {
  type AdmissionRecorder,
  admissionRecorder,
  attemptOf,
  bodyOf,
  type FakeResponse,
  REPLY,
  responseOf,
  wireOf,
  withoutCost,
} from "../texts/support.ts";

interface Stage {
  readonly clock: ManualClock;
  readonly openStreams: OpenStreams;
}

function gateway(): Stage {
  return { clock: new ManualClock(), openStreams: new OpenStreams() };
}

/** A relay that passes everything and records how it ended. */
function plainRelay(budget = UNLIMITED_MEMORY) {
  const notes = { ends: 0, failures: [] as unknown[], leaves: 0 };
  const relay: StreamTransform = {
    finished: false,
    memory: budget.lease("demo"),
    take: (bytes) => bytes,
    end() {
      notes.ends++;
      return Promise.resolve(null);
    },
    fail(thrown) {
      notes.failures.push(thrown);
      return Promise.resolve(null);
    },
    onDisconnect: () => void notes.leaves++,
    heartbeat: () => new TextEncoder().encode(": ping\n\n"),
  };
  return { relay, notes };
}

function passRelay(form: CallerFormatName, recorder: AdmissionRecorder): PassRelay {
  const body = bodyOf(form, form === "chat" ? { stream_options: { include_usage: true } } : {});
  return passRelayOf(attemptOf(form, { recorder, request: { body } }));
}

/** The stream that the caller gets of a vendor's response. */
function relayedOf(
  response: FakeResponse,
  relay: StreamTransform,
  parts: Stage,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const call = { facts: { record: unobservedRecord() }, admission: { onOverdrawn() {} } };
  return relayStream(vendorStream(response, parts.clock), relay, call, parts);
}

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).text();
}

function textIn(read: ReadableStreamReadResult<Uint8Array>): string | null {
  return read.done ? null : new TextDecoder().decode(read.value);
}

Deno.test("relayStream() returns what the relay writes, ends with the vendor's stream and releases everything", async () => {
  const { clock, openStreams } = gateway();
  const { relay, notes } = plainRelay();
  const stream = relayedOf(responseOf(["a", "b", "c"]), relay, { clock, openStreams });
  assertEquals([openStreams.count, clock.waiting], [1, 1]);
  assertEquals(await textOf(stream), "abc");
  assertEquals([openStreams.count, clock.waiting], [0, 0]);
  assertEquals(notes, { ends: 1, failures: [], leaves: 0 });
});

Deno.test("relayStream() reads nothing before the caller reads, and then one chunk ahead of it", async () => {
  const response = responseOf(["a", "b", "c", "d"]);
  const stream = relayedOf(response, plainRelay().relay, gateway());
  const pause = () => new Promise((resolve) => setTimeout(resolve, 2));
  await pause();
  assertEquals(response.reads, 0);
  const reader = stream.getReader();
  assertEquals(textIn(await reader.read()), "a");
  await pause();
  assertEquals(response.reads, 2);
  assertEquals(textIn(await reader.read()), "b");
  await pause();
  assertEquals(response.reads, 2);
  assertEquals(textIn(await reader.read()), "c");
  await pause();
  assertEquals(response.reads, 4);
  await reader.cancel();
});

Deno.test("relayStream() continues to read when a read gives nothing to send", async () => {
  const { relay } = plainRelay();
  const response = responseOf(["skip", "skip", "show", () => new Promise(() => {})]);
  const take = (bytes: Uint8Array<ArrayBuffer>): Bytes => new TextDecoder().decode(bytes) === "show" ? bytes : null;
  const reader = relayedOf(response, { ...relay, take }, gateway()).getReader();
  assertEquals(textIn(await reader.read()), "show");
  await reader.cancel();
});

Deno.test("relayStream() cancels all vendors of callers that disconnect together, and charges a few calls at a time", async () => {
  const stage = gateway();
  const { relay, notes } = plainRelay();
  const responses = Array.from({ length: 10 }, () => responseOf(["a", () => new Promise(() => {})]));
  const readers = responses.map((response) => relayedOf(response, relay, stage).getReader());
  await Promise.all(readers.map((reader) => reader.read()));
  await Promise.all(readers.map((reader) => reader.cancel()));
  assertEquals(responses.every(({ cancelled }) => cancelled), true);
  const counts = [notes.leaves];
  for (let i = 0; i < 2; i++) {
    stage.clock.advance(2);
    counts.push(notes.leaves);
  }
  assertEquals(counts, [4, 8, 10]);
});

Deno.test("relayStream() cancels the vendor when the caller disconnects, and notifies the relay", async () => {
  const { clock, openStreams } = gateway();
  const { relay, notes } = plainRelay();
  const response = responseOf(["a", () => new Promise(() => {})]);
  const reader = relayedOf(response, relay, { clock, openStreams }).getReader();
  await reader.read();
  const pending = reader.read();
  await reader.cancel();
  assertEquals((await pending).done, true);
  await until(() => notes.leaves > 0);
  clock.advance(10);
  assertEquals([response.cancelled, openStreams.count, clock.waiting], [true, 0, 0]);
  await new Promise((resolve) => setTimeout(resolve, 2));
  assertEquals([notes.ends, notes.failures], [0, []]);
});

Deno.test("relayStream() reports a vendor that was cancelled after the caller disconnected as a disconnect", async () => {
  const { relay, notes } = plainRelay();
  const left = new UpstreamFailure("acme", "cancelled", "told to stop", { status: null, accepted: "unknown" });
  assertEquals(await textOf(relayedOf(responseOf(["a", left]), relay, gateway())), "a");
  assertEquals(notes, { ends: 0, failures: [], leaves: 1 });
});

Deno.test("relayStream() turns a vendor's failure into the relay's final bytes", async () => {
  const { clock, openStreams } = gateway();
  const { relay, notes } = plainRelay();
  const fail = (thrown: unknown) => {
    notes.failures.push(thrown);
    return Promise.resolve(new TextEncoder().encode("sorry"));
  };
  const response = responseOf(["a", new Error("connection reset")]);
  assertEquals(await textOf(relayedOf(response, { ...relay, fail }, { clock, openStreams })), "asorry");
  assertEquals([response.cancelled, openStreams.count, clock.waiting], [true, 0, 0]);
});

for (const form of FORMATS) {
  Deno.test(`relayStream() ends a live ${form} stream at a shutdown with an error event of its format`, async () => {
    const { clock, openStreams } = gateway();
    const recorder = admissionRecorder();
    const begun = wireOf(form, REPLY.slice(0, 7));
    const reader = relayedOf(responseOf([begun, () => new Promise(() => {})]), passRelay(form, recorder), {
      clock,
      openStreams,
    })
      .getReader();
    assertEquals(textIn(await reader.read()), begun);
    const last = reader.read();
    openStreams.abortAll();
    assertStringIncludes(textIn(await last)!, "The gateway is shutting down");
    assertEquals((await reader.read()).done, true);
    assertEquals([openStreams.count, clock.waiting, recorder.charges.length], [0, 0, 1]);
  });
}

Deno.test("relayStream() sends the same error at a shutdown to a caller who was not reading", async () => {
  const { clock, openStreams } = gateway();
  const response = responseOf(["a", "b"]);
  const reader = relayedOf(response, passRelay("messages", admissionRecorder()), { clock, openStreams })
    .getReader();
  openStreams.abortAll();
  assertEquals(response.cancelled, true);
  assertStringIncludes(textIn(await reader.read())!, "The gateway is shutting down");
  assertEquals((await reader.read()).done, true);
});

Deno.test("relayStream() completes a reply whose end was in transit at the shutdown", async () => {
  const { clock, openStreams } = gateway();
  const recorder = admissionRecorder();
  let makeDurable = () => {};
  recorder.durable = () => new Promise((resolve) => makeDurable = resolve);
  const wire = wireOf("messages", REPLY);
  const text = textOf(relayedOf(responseOf([wire]), passRelay("messages", recorder), { clock, openStreams }));
  await until(() => recorder.charges.length === 1);
  openStreams.abortAll();
  makeDurable();
  assertEquals(withoutCost(await text), wire);
});

Deno.test("relayStream() breaks only the caller's connection when even the final bytes fail", async () => {
  const { clock, openStreams } = gateway();
  const { relay } = plainRelay();
  const fail = () => Promise.reject(new Error("no words"));
  const reader = relayedOf(responseOf([new Error("reset")]), { ...relay, fail }, { clock, openStreams })
    .getReader();
  const error = await reader.read().catch((thrown) => thrown);
  assertEquals(error.message, "no words");
  clock.advance(60_000); // A heartbeat into a broken stream would throw here.
});

Deno.test("relayStream() sends a heartbeat every fifteen seconds of silence, unless the caller has unread bytes", async () => {
  const { clock, openStreams } = gateway();
  const { relay } = plainRelay();
  let give: (text: string) => void = () => {};
  const response = responseOf([() => new Promise((resolve) => give = resolve), "end"]);
  const reader = relayedOf(response, relay, { clock, openStreams }).getReader();
  const first = reader.read();
  clock.advance(14_999);
  clock.advance(1);
  assertEquals(textIn(await first), ": ping\n\n");
  clock.advance(15_000);
  clock.advance(15_000);
  clock.advance(15_000);
  assertEquals(textIn(await reader.read()), ": ping\n\n");
  const next = reader.read();
  await new Promise((resolve) => setTimeout(resolve));
  give("a");
  assertEquals(textIn(await next), "a");
  clock.advance(14_000);
  const last = reader.read();
  assertEquals(textIn(await last), "end");
  await reader.read();
  assertEquals(clock.waiting, 0);
});

Deno.test("relayStream() tells a relay how long the caller has received nothing but heartbeats", async () => {
  const { clock, openStreams } = gateway();
  const silences: number[] = [];
  const relay = {
    ...plainRelay().relay,
    heartbeat: (silentMs: number) => {
      silences.push(silentMs);
      return new TextEncoder().encode(": ping\n\n");
    },
  };
  let give: (text: string) => void = () => {};
  const response = responseOf([() => new Promise((resolve) => give = resolve), "end"]);
  const reader = relayedOf(response, relay, { clock, openStreams }).getReader();
  for (let beat = 0; beat < 5; beat++) {
    const next = reader.read();
    clock.advance(15_000);
    await next;
  }
  assertEquals(silences, [15_000, 30_000, 45_000, 60_000, 75_000]);
  const next = reader.read();
  await new Promise((resolve) => setTimeout(resolve));
  give("a");
  assertEquals(textIn(await next), "a");
  assertEquals(textIn(await reader.read()), "end");
  await reader.read();
});

Deno.test("relayStream() reads what follows a finished reply, and cancels a vendor that continues or stays silent", async () => {
  const finishing = () => {
    const { relay } = plainRelay();
    return { ...relay, finished: true };
  };
  const ended = responseOf(["end", "[DONE]"]);
  await textOf(relayedOf(ended, finishing(), gateway()));
  await until(() => ended.reads === 3);
  assertEquals(ended.cancelled, false);
  const chatty = responseOf(["end", "more", "more", "more"]);
  await textOf(relayedOf(chatty, finishing(), gateway()));
  await until(() => chatty.cancelled);
  const { clock, openStreams } = gateway();
  const silent = responseOf(["end", () => new Promise(() => {})]);
  await textOf(relayedOf(silent, finishing(), { clock, openStreams }));
  clock.advance(1_000);
  assertEquals(silent.cancelled, true);
});

const LARGE = "x".repeat(65_536);
const MEGABYTE = 1_048_576;

/** A stream of chunks of 64 KB whose caller reads so many of them and then no more. */
async function readSome(chunks: number, budget: MemoryBudget) {
  const stage = gateway();
  const { relay, notes } = plainRelay(budget);
  const response = responseOf(Array.from({ length: 40 }, () => LARGE));
  const reader = relayedOf(response, relay, stage).getReader();
  for (let n = 0; n < chunks; n++) await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 20));
  return { ...stage, reader, response, notes };
}

Deno.test("relayStream() counts what a caller does not read towards the memory of its account, until it reads again", async () => {
  for (const [chunks, held] of [[2, 0], [4, 5 * 65_536], [20, MEGABYTE]] as const) {
    const budget = new MemoryBudget(100 * MEGABYTE);
    const { reader, response } = await readSome(chunks, budget);
    assertEquals([budget.inUseBy("demo"), response.reads], [held, chunks + 1]);
    while (!(await reader.read()).done);
    assertEquals(budget.inUse, 0);
  }
  const budget = new MemoryBudget(100 * MEGABYTE);
  const { reader } = await readSome(20, budget);
  await reader.cancel();
  assertEquals(budget.inUse, 0);
});

Deno.test("relayStream() disconnects a caller that does not read if there is no memory for what waits for it", async () => {
  const budget = new MemoryBudget(8 * MEGABYTE);
  for (let n = 0; n < 31; n++) budget.lease(`other-${n}`).reserve(MEGABYTE / 4);
  const { reader, response, notes, openStreams } = await readSome(20, budget);
  await assertRejects(() => reader.read(), GatewayError, "Not enough memory");
  assertEquals([response.cancelled, notes.leaves, openStreams.count], [true, 1, 0]);
  assertEquals(budget.inUseBy("demo"), 0);
});
