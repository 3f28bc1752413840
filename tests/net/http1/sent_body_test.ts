import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { returnBodyBuffer, takeBodyBuffer } from "../../../src/platform/lib/bytes/body_buffers.ts";
import { ByteParts } from "../../../src/platform/lib/bytes/byte_parts.ts";
import { createHttpClient } from "../../../src/platform/net/http1/client.ts";
import { readAll } from "../../../src/platform/net/http1/response.ts";
import { partsOf, withoutShortRuns } from "../../../src/platform/net/http1/sent_body.ts";
import { originOf } from "../../../src/platform/net/http1/wire_request.ts";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";

/** Parts of these lengths; each has bytes of its own. */
const partsWith = (lengths: readonly number[]) =>
  new ByteParts(lengths.map((length, index) => new Uint8Array(length).fill(index + 1)));

const LENGTHS = [
  [],
  [1],
  [10, 20, 30],
  [16_000, 16_000, 16_000],
  [12, 100_000],
  [100_000, 12, 3],
  [40_000, 5, 5, 40_000, 7],
  [20, 300_000, 20, 20],
  [700_000, 600_000],
];

Deno.test("a body of parts arrives whole, over one connection, whatever the lengths of the parts", async () => {
  const received: Uint8Array[] = [];
  const ports = new Set<number>();
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request, { remoteAddr }) => {
      received.push(await request.bytes());
      ports.add(remoteAddr.port);
      return new Response("ok");
    },
  );
  const client = createHttpClient({ clock: systemClock });
  const origin = originOf(new URL(`http://127.0.0.1:${server.addr.port}`));
  for (const lengths of LENGTHS) {
    const body = partsWith(lengths);
    const response = await client.send(origin, { method: "POST", path: "/x", headerLines: "", body });
    await readAll(response, 10);
    assertEquals(received.pop(), body.joined(), String(lengths));
  }
  client.close();
  assertEquals(ports.size, 1);
});

Deno.test("a body of parts is sent again when a reused connection breaks", async () => {
  const body = partsWith([12, 50_000, 300_000, 5]);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const sizes: number[] = [];
  const serving = (async () => {
    for (const isFirst of [true, false]) {
      using connection = await listener.accept();
      sizes.push(await readToEndOf(connection, body.length));
      await connection.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
      if (isFirst) await connection.read(new Uint8Array(100)); // the start of the next request
    }
  })();
  const client = createHttpClient({ clock: systemClock });
  const origin = originOf(new URL(`http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`));
  for (let turn = 0; turn < 2; turn++) {
    const request = { method: "POST", path: "/x", headerLines: "", body, isRepeatable: true };
    assertEquals(new TextDecoder().decode(await readAll(await client.send(origin, request), 10)), "ok");
  }
  client.close();
  await serving;
  listener.close();
  assertEquals(sizes, [body.length, body.length]);
});

Deno.test("the buffer of a body is not used again while a vendor that replied early has not received it", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const client = createHttpClient({ clock: systemClock });
  const origin = originOf(new URL(`http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`));
  const bytes = new Uint8Array(takeBodyBuffer(1_048_576)).fill(1);
  const body = new ByteParts(Array.from({ length: 20 }, () => bytes)); // more than the kernel accepts
  const sending = client.send(origin, { method: "POST", path: "/x", headerLines: "", body });
  using connection = await listener.accept();
  await connection.read(new Uint8Array(4_096));
  await connection.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  const response = await sending;
  returnBodyBuffer(bytes);
  const next = Array.from({ length: 5 }, () => new Uint8Array(takeBodyBuffer(1_048_576)));
  assertEquals([bytes.length, next.filter(([first]) => first === 1).length], [0, 0]);
  await readAll(response, 10);
  client.close();
  listener.close();
});

/** Reads one request and returns the length of its body. */
async function readToEndOf(connection: Deno.Conn, bodyBytes: number): Promise<number> {
  const buffer = new Uint8Array(65_536);
  let text = "";
  let size = -1;
  while (size < bodyBytes) {
    const count = await connection.read(buffer);
    if (count === null) throw new Error("The client closed the connection");
    if (size >= 0) size += count;
    else {
      text += new TextDecoder("latin1").decode(buffer.subarray(0, count));
      const end = text.indexOf("\r\n\r\n");
      if (end >= 0) size = text.length - end - 4;
    }
  }
  return size;
}

Deno.test("withoutShortRuns() keeps the bytes and their order, and joins neighbouring short parts", () => {
  const lengths = fc.array(fc.constantFrom(1, 5, 16_000, 20_000), { maxLength: 8 });
  fc.assert(
    fc.property(lengths, (each) => {
      const body = partsWith(each);
      const joined = withoutShortRuns(partsOf(body));
      assertEquals(new ByteParts(joined.map((part) => new Uint8Array(part))).joined(), body.joined());
      joined.forEach((part, index) => {
        const before = joined[index - 1];
        if (before !== undefined) assertEquals(Math.max(part.length, before.length) > 16_384, true);
      });
    }),
    { numRuns: 100 },
  );
});
