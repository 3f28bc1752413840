import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { type BodySource, BodyTimeout, chunksOf, readBody } from "../../src/platform/http/bodies/body.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";
import type { DeadlineWheel, Watched } from "../../src/platform/net/deadline.ts";
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

/** A byte stream as the server's, which writes into the buffer of the reader. */
function byteStreamOf(...sizes: number[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const size = sizes.shift();
      const { byobRequest } = controller;
      if (size === undefined) controller.close();
      else if (byobRequest?.view instanceof Uint8Array && byobRequest.view.length >= size) {
        byobRequest.view.fill(size % 251, 0, size);
        return byobRequest.respond(size);
      } else controller.enqueue(new Uint8Array(size).fill(size % 251));
      if (size === undefined) byobRequest?.respond(0);
    },
  });
}

Deno.test("readBody() fills one buffer with a body of a declared length", async () => {
  const wheel = new StoppedWheel();
  const memory = UNLIMITED_MEMORY.lease();
  const request = requestOf(byteStreamOf(70_000, 3, 29_997), { "content-length": "100000" });
  const bytes = await readBody({ request, memory }, { capBytes: 100_000, wheel }, 4);
  assertEquals([bytes.length, bytes.byteOffset, bytes.buffer.byteLength], [100_000, 0, 131_072]);
  const marks = [0, 69_999, 70_000, 70_002, 70_003, 99_999].map((index) => bytes[index]);
  assertEquals(marks, [70_000 % 251, 70_000 % 251, 3, 3, 29_997 % 251, 29_997 % 251]);
  assertEquals([memory.held, wheel.watched.size], [400_000, 0]);
});

Deno.test("readBody() rejects a body that is shorter or longer than declared", async () => {
  for (const sizes of [[70_000, 29_999], [70_000, 30_000, 1]]) {
    const memory = UNLIMITED_MEMORY.lease();
    const request = requestOf(byteStreamOf(...sizes), { "content-length": "100000" });
    const error = await assertRejects(() => readBody({ request, memory }, { capBytes: 200_000 }), GatewayError);
    assertEquals([error.status, memory.held], [400, 0]);
  }
});

Deno.test("readBody() cancels the read of a body of a declared length that stops arriving", async () => {
  const wheel = new StoppedWheel();
  let isCancelled = false;
  const stalled = new ReadableStream<Uint8Array>({
    type: "bytes",
    pull: () => new Promise(() => {}),
    cancel() {
      isCancelled = true;
    },
  });
  const reading = readBody(sourceOf(stalled, { "content-length": "100000" }), { capBytes: 100_000, idleMs: 10, wheel });
  const rejected = assertRejects(() => reading, BodyTimeout);
  const [watched] = atLeast(wheel.watched, 1);
  assertEquals(watched.deadlineAt, 10);
  watched.onDeadline();
  await rejected;
  assertEquals([isCancelled, wheel.watched.size], [true, 0]);
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
