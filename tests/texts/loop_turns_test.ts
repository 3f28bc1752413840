import { assert, assertEquals } from "@std/assert";
import type { ReplyEvent } from "../../src/conversation/neutral/events.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { CALLER_ENDPOINTS } from "../../src/platform/endpoints/callers.ts";
import { MAX_TURN_BYTES, MAX_TURN_EVENTS, MAX_TURN_READS } from "../../src/platform/lib/streams/loop_turns.ts";
import { UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";
import { KeptStreams } from "../../src/services/replays/kept_streams.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { bodyOf, REPLY, requestOf, responseOf, wireOf } from "./support.ts";
import { textGatewayOf } from "./text_gateway.ts";

const encoder = new TextEncoder();
const READ_BYTES = 65_536;

/** Runs work whose reads need no turn of the event loop, and returns how often a zero timer fired meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let timer = setTimeout(onTurn, 0);
  function onTurn(): void {
    turns++;
    timer = setTimeout(onTurn, 0);
  }
  await work();
  clearTimeout(timer);
  return turns;
}

function inReads(text: string, bytes = READ_BYTES): Uint8Array<ArrayBuffer>[] {
  const all = encoder.encode(text);
  return Array.from({ length: Math.ceil(all.length / bytes) }, (_, n) => all.slice(n * bytes, (n + 1) * bytes));
}

/** A reply with that many deltas of a text. */
function replyOf(deltas: number, text = "word "): readonly ReplyEvent[] {
  const at = REPLY.findIndex((event) => event.type === "part-delta" && event.index === 1);
  const delta: ReplyEvent = { type: "part-delta", index: 1, text };
  return [...REPLY.slice(0, at), ...Array.from({ length: deltas }, () => delta), ...REPLY.slice(at + 1)];
}

/** The caller's stream of what a vendor sends in these reads. */
async function streamOf(caller: CallerFormatName, vendor: CallerFormatName, reads: readonly Uint8Array<ArrayBuffer>[]) {
  const { service } = textGatewayOf({ providers: { one: [vendor, () => responseOf(reads)] } });
  const fields = caller === "content" ? {} : { stream: true };
  const response = await service.handle(requestOf(caller, { body: bodyOf(caller, fields), stream: true }));
  assert(response.body !== null);
  return response.body;
}

async function lengthOf(stream: ReadableStream<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const chunk of stream) bytes += chunk.length;
  return bytes;
}

const FORMATS = ["chat", "responses", "messages", "content"] as const;

for (const vendor of FORMATS) {
  for (const caller of FORMATS) {
    const events = caller === "responses" ? 5_000 : 1_000;
    Deno.test(`${events} events of ${vendor} in large reads let others work after each hundred, for a caller of ${caller}`, async () => {
      const wire = wireOf(vendor, replyOf(events));
      const stream = await streamOf(caller, vendor, inReads(wire));
      let bytes = 0;
      const turns = await turnsDuring(async () => bytes = await lengthOf(stream));
      assert(bytes > 20 * events);
      const least = Math.max(Math.floor(events / MAX_TURN_EVENTS), Math.floor(wire.length / MAX_TURN_BYTES));
      assert(turns >= least, `${turns} of ${least} turns`);
    });
  }
}

Deno.test("reads of single events let others work after each 32", async () => {
  const frames = wireOf("chat", replyOf(1_600)).split(/(?<=\n\n)/).map((frame) => encoder.encode(frame));
  const stream = await streamOf("chat", "chat", frames);
  const turns = await turnsDuring(() => lengthOf(stream));
  assert(turns >= Math.floor(frames.length / MAX_TURN_READS), `${turns} turns for ${frames.length} reads`);
});

for (
  const [name, text] of [
    ["comments", ": ping\n\n".repeat(50_000)],
    ["comments without blank lines", ": ping\n".repeat(100_000)],
    ["blank lines", "\n".repeat(300_000)],
    ["one event on one line", `data: ${JSON.stringify({ x: "y".repeat(4_000_000) })}\n\n`],
    ["one event on many lines", `data: [\n${"data: 1,\n".repeat(50_000)}data: 1]\n\n`],
  ] as const
) {
  Deno.test(`a resumable stream of ${name} lets others work after each 64 KB`, async () => {
    const [start = "", end = ""] = wireOf("chat", REPLY).split(/(?<=^[^\n]*\n\n)/);
    const wire = start + text + end;
    const body = await streamOf("chat", "chat", inReads(wire));
    const streams = new KeptStreams(new ManualClock());
    const limits = { streamBytes: 1e9, accountBytes: 1e9, accountStreams: 3, keepMs: 1_000 };
    const facts = {
      accountId: "demo",
      requestId: "req_1",
      endpoint: CALLER_ENDPOINTS.createChatCompletion,
      headers: [],
    };
    const { stream, ended } = streams.keep(facts, body, { memory: UNLIMITED_MEMORY.lease("demo"), limits });
    const turns = await turnsDuring(() => ended);
    assertEquals(stream.isOver, true);
    assert(turns >= Math.floor(wire.length / MAX_TURN_BYTES), `${turns} turns for ${wire.length} bytes`);
  });
}
