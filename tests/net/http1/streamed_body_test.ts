import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Clock } from "../../../src/platform/lib/basics/clock.ts";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { createHttpClient, type HttpClient } from "../../../src/platform/net/http1/client.ts";
import { ConnectionError } from "../../../src/platform/net/http1/connection_error.ts";
import { readAll } from "../../../src/platform/net/http1/response.ts";
import { originOf, type StreamedBody } from "../../../src/platform/net/http1/wire_request.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A body of these texts that counts how often it is opened and how many chunks are read. */
function bodyOf(...texts: readonly string[]): StreamedBody & { opened: number; taken: number } {
  return {
    lengthBytes: texts.join("").length,
    opened: 0,
    taken: 0,
    async *open() {
      this.opened++;
      for (const text of texts) {
        this.taken += text.length;
        yield encoder.encode(text);
      }
    },
  };
}

const requestWith = (body: StreamedBody) => ({ method: "POST", path: "/x", headerLines: "", body });

/** Reads until that many bytes of a body have arrived; returns the whole text. */
async function readRequest(connection: Deno.Conn, bodyBytes: number): Promise<string> {
  const buffer = new Uint8Array(65536);
  let text = "";
  while (!text.includes("\r\n\r\n") || text.length - text.indexOf("\r\n\r\n") - 4 < bodyBytes) {
    const count = await connection.read(buffer);
    if (count === null) throw new Error("the client closed");
    text += decoder.decode(buffer.subarray(0, count));
  }
  return text;
}

const answer = (connection: Deno.Conn, status = "200 OK") =>
  connection.write(encoder.encode(`HTTP/1.1 ${status}\r\nContent-Length: 2\r\n\r\nok`));

interface Served {
  readonly client: HttpClient;
  readonly origin: ReturnType<typeof originOf>;
  /** The number of accepted connections. */
  readonly count: () => number;
}

async function withServer(
  script: (connection: Deno.Conn, nth: number) => Promise<unknown>,
  test: (served: Served) => Promise<void>,
  clock: Clock = systemClock,
): Promise<void> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open: Deno.Conn[] = [];
  const serving = (async () => {
    for await (const connection of listener) script(connection, open.push(connection) - 1).catch(() => {});
  })();
  const client = createHttpClient({ clock });
  try {
    const origin = originOf(new URL(`http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`));
    await test({ client, origin, count: () => open.length });
  } finally {
    client.close();
    listener.close();
    for (const connection of open) {
      try {
        connection.close();
      } catch { /* closed by the script */ }
    }
    await serving;
  }
}

Deno.test("a streamed body is sent with its length, chunk by chunk, and the connection is reused", async () => {
  const seen: string[] = [];
  await withServer(async (connection) => {
    for (;;) {
      seen.push(await readRequest(connection, 6));
      await answer(connection);
    }
  }, async ({ client, origin, count }) => {
    const body = bodyOf("ab", "", "cdef");
    for (let turn = 0; turn < 2; turn++) {
      assertEquals(decoder.decode(await readAll(await client.send(origin, requestWith(body)), 10)), "ok");
    }
    const head = `POST /x HTTP/1.1\r\nhost: 127.0.0.1:${origin.port}\r\ncontent-length: 6\r\n\r\n`;
    assertEquals(seen, [`${head}abcdef`, `${head}abcdef`]);
    assertEquals([body.opened, count()], [2, 1]);
  });
});

Deno.test("a repeatable streamed body is reopened and resent when a reused connection breaks", async () => {
  const seen: string[] = [];
  await withServer(async (connection) => {
    seen.push(await readRequest(connection, 4));
    await answer(connection);
    seen.push(await readRequest(connection, 4));
    connection.close();
  }, async ({ client, origin, count }) => {
    await readAll(await client.send(origin, requestWith(bodyOf("zero"))), 10);
    const body = bodyOf("abcd");
    await readAll(await client.send(origin, { ...requestWith(body), isRepeatable: true }), 10);
    assertEquals(seen.map((text) => text.slice(-4)), ["zero", "abcd", "abcd"]);
    assertEquals([body.opened, count()], [2, 2]);
  });
});

Deno.test("a repeatable request is not resent when the connection is lost after the server started on it", async () => {
  let now = 1_000_000;
  const clock: Clock = { ...systemClock, now: () => now };
  await withServer(async (connection) => {
    await readRequest(connection, 4);
    await answer(connection);
    await readRequest(connection, 4);
    now += 60_000;
    connection.close();
  }, async ({ client, origin, count }) => {
    await readAll(await client.send(origin, requestWith(bodyOf("zero"))), 10);
    const late = { ...requestWith(bodyOf("abcd")), isRepeatable: true };
    const error = await assertRejects(() => client.send(origin, late), ConnectionError);
    assertEquals([error.kind, count()], ["closed", 1]);
  }, clock);
});

Deno.test("an early error response stops the upload, and the connection is not reused", async () => {
  await withServer(async (connection, nth) => {
    if (nth > 0) await readRequest(connection, 1);
    await answer(connection, nth > 0 ? "200 OK" : "413 Content Too Large");
  }, async ({ client, origin, count }) => {
    const mebibyte = "x".repeat(1_048_576);
    const body = bodyOf(...Array<string>(64).fill(mebibyte));
    const response = await client.send(origin, requestWith(body));
    assertEquals([response.status, decoder.decode(await readAll(response, 10))], [413, "ok"]);
    assert(body.taken < (body.lengthBytes ?? 0), "all of it was taken");
    await readAll(await client.send(origin, requestWith(bodyOf("x"))), 10);
    assertEquals(count(), 2);
  });
});

Deno.test("a streamed body is read no faster than the server accepts it", async () => {
  const answered = Promise.withResolvers<void>();
  let received = 0;
  await withServer(async (connection) => {
    await connection.write(encoder.encode("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"));
    await answered.promise;
    const buffer = new Uint8Array(1_048_576);
    while (received < 64 * 1_048_576) received += await connection.read(buffer) ?? 64 * 1_048_576;
    await connection.write(encoder.encode("ok"));
  }, async ({ client, origin }) => {
    const body = bodyOf(...Array<string>(64).fill("x".repeat(1_048_576)));
    const response = await client.send(origin, requestWith(body));
    assert(body.taken < (body.lengthBytes ?? 0), "all of it was taken");
    answered.resolve();
    assertEquals(decoder.decode(await readAll(response, 10)), "ok");
    assertEquals(body.taken, body.lengthBytes);
  });
});

for (
  const [what, body] of [
    ["is shorter than it said", { ...bodyOf("abc"), lengthBytes: 4 }],
    ["is longer than it said", { ...bodyOf("abc", "def"), lengthBytes: 4 }],
    ["cannot be read", {
      lengthBytes: 4,
      async *open() {
        yield encoder.encode("ab");
        throw new Error("disk gone");
      },
    }],
  ] as const
) {
  Deno.test(`a streamed body that ${what} fails with its own error and closes the connection`, async () => {
    const closed = Promise.withResolvers<void>();
    await withServer(async (connection) => {
      const buffer = new Uint8Array(1000);
      while (await connection.read(buffer) !== null);
      closed.resolve();
    }, async ({ client, origin }) => {
      const error = await assertRejects(() => client.send(origin, requestWith(body)), ConnectionError);
      assertEquals(error.kind, "body");
      await closed.promise;
    });
  });
}

Deno.test("a request whose body never arrives ends when it is cancelled", async () => {
  await withServer(async (connection) => void await readRequest(connection, 4), async ({ client, origin }) => {
    const never = Promise.withResolvers<IteratorResult<Uint8Array>>();
    const body: StreamedBody = {
      lengthBytes: 4,
      open: () => ({ [Symbol.asyncIterator]: () => ({ next: () => never.promise }) }),
    };
    let cancel = () => {};
    const pending = client.send(origin, requestWith(body), (stop) => void (cancel = stop));
    setTimeout(() => cancel(), 5);
    assertEquals((await assertRejects(() => pending, ConnectionError)).kind, "cancelled");
    never.resolve({ done: true, value: undefined });
  });
});
