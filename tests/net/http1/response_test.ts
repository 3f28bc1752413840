import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { ByteStream } from "../../../src/platform/net/byte_stream.ts";
import { Connection } from "../../../src/platform/net/http1/connection.ts";
import { ConnectionError } from "../../../src/platform/net/http1/connection_error.ts";
import { type HttpResponse, readAll, responseOf } from "../../../src/platform/net/http1/response.ts";
import { EventLoopTurns } from "../../support/event_loop_turns.ts";

const ORIGIN = { tls: false, hostname: "vendor.test", port: 80 };
const REQUEST = { method: "GET", path: "/", headerLines: "", body: null, freshConnection: false };
const CHUNKS = Array.from({ length: 400 }, (_, nth) => `data: chunk ${nth} ${"x".repeat(nth % 300)}\n\n`);

const CHUNKED_HEAD = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

/** The response with one chunk in each read. */
function chunkedReads(): string[] {
  return [CHUNKED_HEAD, ...CHUNKS.map(framed), "0\r\n\r\n"];
}

function framed(chunk: string): string {
  return `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
}

/** A socket that returns one text for each read, then its end. */
function vendorSocket(reads: string[]): ByteStream {
  return {
    read(buffer) {
      const text = reads.shift();
      return Promise.resolve(text === undefined ? null : new TextEncoder().encodeInto(text, buffer).written);
    },
    write: (bytes) => Promise.resolve(bytes.length),
    close() {},
  };
}

async function response(reads = chunkedReads(), onReusable = () => {}): Promise<HttpResponse> {
  const facts = { origin: ORIGIN, host: "vendor.test", address: null, openedAt: 0 };
  const connection = new Connection(facts, vendorSocket(reads));
  return responseOf({ connection, ...await connection.exchange(REQUEST) }, onReusable);
}

function readNext(from: HttpResponse): Promise<Uint8Array | null> {
  return new Promise((resolve, reject) => {
    from.readNext({ onChunk: resolve, onEnd: () => resolve(null), onError: reject });
  });
}

Deno.test("readNext() returns bytes that no later read changes, although they are not copied", async () => {
  const from = await response();
  const kept: Uint8Array[] = [];
  for (let bytes = await readNext(from); bytes !== null; bytes = await readNext(from)) kept.push(bytes);
  assertEquals(kept.map((bytes) => new TextDecoder().decode(bytes)), CHUNKS);
  assertEquals(new Set(kept.map(({ buffer }) => buffer)).size < CHUNKS.length / 10, true);
});

Deno.test("read() returns each chunk in a buffer of its own, which the reader may transfer", async () => {
  const from = await response();
  const texts: string[] = [];
  for (let bytes = await from.read(); bytes !== null; bytes = await from.read()) {
    assertEquals(bytes.buffer.byteLength, bytes.length);
    texts.push(new TextDecoder().decode(bytes.buffer.transfer()));
  }
  assertEquals(texts, CHUNKS);
});

for (
  const [form, reads] of Object.entries({
    "a length": ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"],
    chunks: [`${CHUNKED_HEAD}${framed("hel")}${framed("lo")}0\r\n\r\n`],
  })
) {
  Deno.test(`takeArrived() returns a body with ${form} that arrived with the head, and frees the connection`, async () => {
    let reusable = 0;
    const from = await response([...reads], () => reusable++);
    const arrived = from.takeArrived();
    assertEquals([arrived && new TextDecoder().decode(arrived), reusable], ["hello", 1]);
    assertEquals(await from.read(), null);
  });
}

for (
  const [form, reads] of Object.entries({
    "a length": ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel", "lo"],
    chunks: [`${CHUNKED_HEAD}${framed("hel")}`, `${framed("lo")}0\r\n\r\n`],
    "bytes after the head alone": [CHUNKED_HEAD, `${framed("hello")}0\r\n\r\n`],
  })
) {
  Deno.test(`takeArrived() returns null for an incomplete body with ${form}, and loses no byte`, async () => {
    const from = await response([...reads]);
    assertEquals(from.takeArrived(), null);
    assertEquals(new TextDecoder().decode(await readAll(from, 100)), "hello");
  });
}

Deno.test("takeArrived() returns no bytes for a response without a body", async () => {
  const from = await response(["HTTP/1.1 204 No Content\r\n\r\n"]);
  assertEquals(from.takeArrived()?.length, 0);
});

Deno.test("takeArrived() rejects invalid framing and bytes after the body make the connection end", async () => {
  const invalid = await response([`${CHUNKED_HEAD}xyz\r\n`]);
  assertThrows(() => invalid.takeArrived(), ConnectionError, "Cannot read the response");
  let reusable = 0;
  const excess = await response(["HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhello"], () => reusable++);
  assertEquals([new TextDecoder().decode(excess.takeArrived() ?? undefined), reusable], ["he", 0]);
});

/** A body of chunks that have all arrived. */
function arrived(chunks: number): Pick<HttpResponse, "readNext" | "cancel"> {
  let left = chunks;
  return {
    readNext: ({ onChunk, onEnd }) =>
      queueMicrotask(() => left-- > 0 ? onChunk(new Uint8Array([left % 251])) : onEnd()),
    cancel() {},
  };
}

Deno.test("readAll() takes a turn of the event loop in 32 chunks, and joins them", async () => {
  using turns = new EventLoopTurns();
  const body = await readAll(arrived(6_400), 10_000);
  assertEquals([...body], Array.from({ length: 6_400 }, (_, at) => (6_399 - at) % 251));
  turns.assertAbout(200);
  await assertRejects(() => readAll(arrived(6_400), 6_399), ConnectionError, "its body is too long");
});

Deno.test("read() takes a turn of the event loop in 32 chunks that have arrived", async () => {
  const from = await response([CHUNKED_HEAD, ...Array(3_200).fill(framed("x")), "0\r\n\r\n"]);
  using turns = new EventLoopTurns();
  let read = 0;
  for (let bytes = await from.read(); bytes !== null; bytes = await from.read()) read += bytes.length;
  assertEquals(read, 3_200);
  turns.assertAbout(100);
});

Deno.test("a read after cancel() fails, so that the part that was read is not taken for the whole", async () => {
  const from = await response();
  await from.read();
  from.cancel();
  const error = await assertRejects(() => from.read(), ConnectionError);
  assertEquals(error.kind, "cancelled");
});
