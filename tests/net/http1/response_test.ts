import { assertEquals } from "@std/assert";
import type { ByteStream } from "../../../src/net/byte_stream.ts";
import { Connection } from "../../../src/net/http1/connection.ts";
import { type HttpResponse, responseOf } from "../../../src/net/http1/response.ts";

const ORIGIN = { tls: false, hostname: "vendor.test", port: 80 };
const REQUEST = { method: "GET", path: "/", headerLines: "", body: null, freshConnection: false };
const CHUNKS = Array.from({ length: 400 }, (_, nth) => `data: chunk ${nth} ${"x".repeat(nth % 300)}\n\n`);

/** A socket that returns the response with one chunk in each read. */
function vendorSocket(): ByteStream {
  const framed = CHUNKS.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  const reads = ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", ...framed, "0\r\n\r\n"];
  return {
    read(buffer) {
      const text = reads.shift();
      return Promise.resolve(text === undefined ? null : new TextEncoder().encodeInto(text, buffer).written);
    },
    write: (bytes) => Promise.resolve(bytes.length),
    close() {},
  };
}

async function response(): Promise<HttpResponse> {
  const facts = { origin: ORIGIN, host: "vendor.test", address: null, openedAt: 0 };
  const connection = new Connection(facts, vendorSocket());
  return responseOf({ connection, ...await connection.exchange(REQUEST) }, () => {});
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
