import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { type BodySource, BodyTimeout, chunksOf, readBody } from "../../src/http/body.ts";
import { GatewayError } from "../../src/lib/gateway_error.ts";
import { UNLIMITED_MEMORY } from "../../src/lib/memory_budget.ts";
import type { DeadlineWheel, Watched } from "../../src/net/deadline.ts";
import { atLeast } from "../support/items.ts";

/** A wheel whose clock moves only when the test sets it. */
class StoppedWheel implements DeadlineWheel {
  nowMs = 0;
  readonly watched = new Set<Watched>();
  now = () => this.nowMs;
  watch = (watched: Watched) => void this.watched.add(watched);
  unwatch = (watched: Watched) => void this.watched.delete(watched);
}

function requestOf(
  body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>,
  fields: Record<string, string> = {},
): Request {
  return new Request("http://a/", { method: "POST", body, headers: fields });
}

function sourceOf(...sent: Parameters<typeof requestOf>): BodySource {
  return { request: requestOf(...sent), memory: UNLIMITED_MEMORY.lease() };
}

function streamOf(...sizes: number[]): ReadableStream<Uint8Array> {
  return ReadableStream.from(sizes.map((size) => new Uint8Array(size).fill(size)));
}

Deno.test("readBody() returns every byte in order, with a length and without", async () => {
  const wheel = new StoppedWheel();
  const plain = await readBody(sourceOf(new Uint8Array([1, 2, 3]), { "content-length": "3" }), { capBytes: 3, wheel });
  assertEquals([...plain], [1, 2, 3]);
  const pieces = await readBody(sourceOf(streamOf(1, 2, 3)), { capBytes: 6, wheel });
  assertEquals([...pieces], [1, 2, 2, 3, 3, 3]);
  assertEquals(
    (await readBody({ request: new Request("http://a/"), memory: UNLIMITED_MEMORY.lease() }, { capBytes: 1, wheel }))
      .length,
    0,
  );
  assertEquals(wheel.watched.size, 0);
});

Deno.test("readBody() stops at the first byte above the limit and discards the rest", async () => {
  let pulled = 0;
  let isCancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(1000));
    },
    cancel() {
      isCancelled = true;
    },
  }, { highWaterMark: 0 });
  const wheel = new StoppedWheel();
  const error = await assertRejects(
    () => readBody(sourceOf(endless), { capBytes: 2500, wheel }),
    GatewayError,
    "2500 bytes",
  );
  assertEquals([error.status, error.code, error.details.closeConnection], [413, "request_too_large", true]);
  assertEquals([pulled, isCancelled, wheel.watched.size], [3, true, 0]);
});

Deno.test("readBody() rejects a length above the limit without reading", async () => {
  const body = new ReadableStream<Uint8Array>({
    pull() {
      throw new Error("read");
    },
  }, { highWaterMark: 0 });
  const request = requestOf(body, { "content-length": "101" });
  const error = await assertRejects(
    () => readBody({ request, memory: UNLIMITED_MEMORY.lease() }, { capBytes: 100 }),
    GatewayError,
  );
  assertEquals([error.status, request.bodyUsed], [413, false]);
});

Deno.test("readBody() extends the timeout with every byte, up to a maximum", async () => {
  const wheel = new StoppedWheel();
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const reading = readBody(sourceOf(readable), { capBytes: 1_000_000, idleMs: 10, wholeMs: 25, wheel });
  const rejected = assertRejects(() => reading, BodyTimeout);
  await Promise.resolve();
  const [watched] = atLeast(wheel.watched, 1);
  assertEquals(watched.deadlineAt, 10);
  const deadlines = [];
  for (const nowMs of [9, 18, 24]) {
    wheel.nowMs = nowMs;
    await writer.write(new Uint8Array(64)); // extends the timeout by a millisecond
    await writer.ready;
    await new Promise((resolve) => setTimeout(resolve));
    deadlines.push(Math.floor(watched.deadlineAt));
  }
  assertEquals(deadlines, [19, 26, 27]);
  watched.onDeadline();
  await rejected;
  assertInstanceOf(await reading.catch((error) => error), GatewayError);
  await writer.abort().catch(() => {});
});

Deno.test("readBody() reports an interrupted body", async () => {
  const broken = () => new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error("reset")) });
  for (const fields of [{}, { "content-length": "7" }]) {
    const error = await assertRejects(
      () => readBody(sourceOf(broken(), fields as Record<string, string>), { capBytes: 100 }),
      GatewayError,
      "incomplete",
    );
    assertEquals(error.status, 400);
  }
});

Deno.test("chunksOf() discards what its reader leaves unread", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(10)),
    cancel() {
      isCancelled = true;
    },
  }, { highWaterMark: 0 });
  const wheel = new StoppedWheel();
  for await (const chunk of chunksOf(requestOf(body), { capBytes: 100, wheel })) {
    assertEquals(chunk.length, 10);
    break;
  }
  assertEquals([isCancelled, wheel.watched.size], [true, 0]);
});
