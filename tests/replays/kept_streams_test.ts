import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { CALLER_ENDPOINTS } from "../../src/platform/endpoints/callers.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { MemoryBudget } from "../../src/platform/lib/process/memory_budget.ts";
import { KeptStreams, type StreamLimits } from "../../src/services/replays/kept_streams.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";

const LIMITS: StreamLimits = { streamBytes: 1_000, accountBytes: 2_000, accountStreams: 3, keepMs: 600_000 };

/** A stream that the test writes. */
function source() {
  const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
  const writer = writable.getWriter();
  return {
    readable,
    say: (text: string) => writer.write(new TextEncoder().encode(text)),
    end: () => writer.close(),
    break: () => writer.abort(new Error("broken")),
  };
}

function stage(limits: Partial<StreamLimits> = {}, memory = new MemoryBudget(1e9)) {
  const clock = new ManualClock();
  const streams = new KeptStreams(clock);
  const all = { ...LIMITS, ...limits };
  const open = (requestId: string, accountId = "demo") => {
    streams.admit(accountId, all)();
    const from = source();
    const kept = streams.keep(
      { accountId, requestId, endpoint: CALLER_ENDPOINTS.createChatCompletion, headers: [] },
      from.readable,
      {
        memory: memory.lease(accountId),
        limits: all,
      },
    );
    return { ...from, ...kept };
  };
  return { clock, streams, memory, open };
}

const event = (n: number) => `data: ${n}\nid: ${n}\n\n`;
const textOf = (stream: ReadableStream<Uint8Array<ArrayBuffer>> | null) => new Response(stream).text();

Deno.test("readers receive all events after theirs, those that follow included, each at its own pace", async () => {
  const { open } = stage();
  const { say, end, stream, ended } = open("req_1");
  const early = textOf(stream.read(0));
  for (let n = 1; n <= 3; n++) await say(`data: ${n}\n\n`);
  const late = textOf(stream.read(2));
  await say("data: 4\n\n");
  await end();
  await ended;
  assertEquals(await early, [1, 2, 3, 4].map(event).join(""));
  assertEquals(await late, [3, 4].map(event).join(""));
  assertEquals(await textOf(stream.read(3)), event(4));
  assertEquals(stream.read(4), null);
  assertThrows(() => stream.read(5), GatewayError, "up to 4");
});

Deno.test("a stream is kept for its account alone, until some time after its end", async () => {
  const { clock, streams, memory, open } = stage();
  const { say, end, ended } = open("req_1");
  await say("data: 1\n\n");
  assert(streams.find("demo", "req_1") !== null);
  assertEquals([streams.find("other", "req_1"), streams.find("demo", "req_2")], [null, null]);
  clock.advance(3_600_000);
  assert(streams.find("demo", "req_1") !== null);
  await end();
  await ended;
  clock.advance(LIMITS.keepMs - 1);
  assert(streams.find("demo", "req_1") !== null);
  clock.advance(1);
  assertEquals([streams.find("demo", "req_1"), streams.count, memory.inUse], [null, 0, 0]);
});

Deno.test("an event above the limit reaches those who read the stream", async () => {
  const { open } = stage({ streamBytes: 300, accountBytes: 200 });
  const { say, end, stream, ended } = open("req_1");
  const reader = stream.read(0)!.getReader();
  for (let n = 1; n <= 3; n++) {
    const reading = reader.read();
    await say(`data: ${"x".repeat(1_000)}\n\n`);
    assertEquals((await reading).value?.length, event(n).length + 999);
  }
  // The event before it, and the one after, in the same read: the reader has not come back for the large one.
  const reading = reader.read();
  await say(`data: 4\n\ndata: ${"x".repeat(1_000)}\n\ndata: 6\n\n`);
  const last = [await reading, await reader.read(), await reader.read()];
  assertEquals(last.map(({ value }) => value?.length), [event(4).length, event(5).length + 999, event(6).length]);
  await end();
  await ended;
  assertEquals((await reader.read()).done, true);
  assert(stream.bytes <= 200);
});

Deno.test("of a long stream the last events are kept, and a reader that is too slow sees a broken connection", async () => {
  const { open } = stage({ streamBytes: 300 });
  const { say, end, stream, ended } = open("req_1");
  const slow = stream.read(0)!.getReader();
  for (let n = 1; n <= 3_000; n++) await say(`data: ${n}\n\n`);
  await end();
  await ended;
  assert(stream.bytes <= 300);
  await assertRejects(async () => {
    while (!(await slow.read()).done);
  });
  assertThrows(() => stream.read(10), GatewayError, "no longer kept");
  assertEquals(await textOf(stream.read(2_998)), event(2_999) + event(3_000));
});

Deno.test("the streams of an account are limited by number and bytes, and do not displace those of others", async () => {
  const { streams, open } = stage();
  const other = open("other_1", "other");
  await other.say("data: kept\n\n");
  const own = ["req_1", "req_2", "req_3"].map((id) => open(id));
  assertThrows(() => open("req_4"), GatewayError, "3 under way");
  for (const each of own) for (let n = 0; n < 80; n++) await each.say("data: 0123456789\n\n");
  await itemAt(own, 1).end();
  await itemAt(own, 1).ended;
  open("req_4");
  assertEquals(streams.find("demo", "req_2"), null);
  const bytes = own.reduce((sum, { stream }) => sum + stream.bytes, 0);
  assert(bytes <= LIMITS.accountBytes, String(bytes));
  assert(streams.find("other", "other_1") !== null);
});

Deno.test("streams that are admitted count from then on, until their place is given back", () => {
  const { streams, open } = stage();
  open("req_1");
  const admitted = [streams.admit("demo", LIMITS), streams.admit("demo", LIMITS)];
  assertThrows(() => streams.admit("demo", LIMITS), GatewayError, "3 under way");
  streams.admit("other", LIMITS);
  itemAt(admitted, 0)();
  itemAt(admitted, 0)(); // has no effect
  open("req_2");
  assertThrows(() => streams.admit("demo", LIMITS), GatewayError, "3 under way");
});

Deno.test("without free memory events are dropped, and the stream goes on", async () => {
  const memory = new MemoryBudget(1_000);
  const { open } = stage({}, memory);
  const { say, end, stream, ended } = open("req_1");
  const reading = textOf(stream.read(0));
  await say("data: 1\n\n");
  await end();
  await ended;
  assertEquals(stream.bytes, 0);
  await reading.catch(() => {}); // what was dropped is not sent
});

Deno.test("a stream that breaks, and one of a removed account, break for their readers too", async () => {
  const { streams, memory, open } = stage();
  const broken = open("req_1");
  const reading = textOf(broken.stream.read(0));
  await broken.say("data: 1\n\n");
  await broken.break();
  await assertRejects(() => reading);
  await assertRejects(() => textOf(broken.stream.read(0)));
  const removed = open("req_2");
  await removed.say("data: 1\n\n");
  const other = textOf(removed.stream.read(1));
  assertEquals(streams.removeAccount("demo"), 2);
  await assertRejects(() => other);
  assertEquals([streams.count, memory.inUse], [0, 0]);
  await removed.say("data: 2\n\n");
  await removed.end();
  await removed.ended;
  assertEquals(memory.inUse, 0);
});
