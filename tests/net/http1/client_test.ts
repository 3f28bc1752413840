import { assertEquals, assertRejects } from "@std/assert";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { createHttpClient, type HttpClient } from "../../../src/platform/net/http1/client.ts";
import { ioTurn } from "../../support/io_turn.ts";
import { ConnectionError } from "../../../src/platform/net/http1/connection_error.ts";
import { readAll } from "../../../src/platform/net/http1/response.ts";
import { originOf } from "../../../src/platform/net/http1/wire_request.ts";

const encoder = new TextEncoder();
const request = { method: "POST", path: "/x", headerLines: "a: b\r\n", body: encoder.encode("{}") };

/** Runs a server that answers each connection by a script; passes the client and the origin to the test. */
async function withServer(
  script: (connection: Deno.Conn, nth: number) => Promise<void>,
  test: (client: HttpClient, origin: ReturnType<typeof originOf>) => Promise<void>,
): Promise<void> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const open = new Set<Deno.Conn>();
  const serving = (async () => {
    let nth = 0;
    for await (const connection of listener) {
      open.add(connection);
      script(connection, nth++).catch(() => {});
    }
  })();
  const client = createHttpClient({ clock: systemClock });
  try {
    await test(client, originOf(new URL(`http://127.0.0.1:${port}`)));
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

/** Reads one request from a connection; null when the client closed it. */
async function readRequest(connection: Deno.Conn): Promise<string | null> {
  const buffer = new Uint8Array(65536);
  let text = "";
  while (!text.includes("\r\n\r\n{}")) {
    const count = await connection.read(buffer);
    if (count === null) return null;
    text += new TextDecoder().decode(buffer.subarray(0, count));
  }
  return text;
}

const write = (connection: Deno.Conn, text: string) => connection.write(encoder.encode(text));

Deno.test("HttpClient sends host, length and header lines, and reads a complete response", async () => {
  let seen = "";
  await withServer(async (connection) => {
    seen = await readRequest(connection) ?? "";
    await write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Name: Value\r\n\r\nhello");
  }, async (client, origin) => {
    const response = await client.send(origin, request);
    assertEquals(response.status, 200);
    assertEquals(response.head.get("x-name"), "Value");
    assertEquals(new TextDecoder().decode(await readAll(response, 100)), "hello");
    assertEquals(seen, `POST /x HTTP/1.1\r\nhost: 127.0.0.1:${origin.port}\r\ncontent-length: 2\r\na: b\r\n\r\n{}`);
  });
});

Deno.test("HttpClient reuses a connection after its response was read", async () => {
  let connections = 0;
  await withServer(async (connection) => {
    connections++;
    while (await readRequest(connection)) await write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  }, async (client, origin) => {
    for (let turn = 0; turn < 3; turn++) await readAll(await client.send(origin, request), 100);
    assertEquals(connections, 1);
  });
});

/** Answers, and closes the connection: at once, or with the next request. */
const closingAfterResponse =
  (counts: { connections: number; requests: number }, withNext: boolean) => async (at: Deno.Conn) => {
    counts.connections++;
    if (!await readRequest(at)) return;
    counts.requests++;
    await write(at, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    if (withNext && await readRequest(at)) counts.requests++;
    at.close();
    closed.resolve();
  };
let closed = Promise.withResolvers<void>();

Deno.test("HttpClient opens a new connection when the server closed the idle one before", async () => {
  const counts = { connections: 0, requests: 0 };
  closed = Promise.withResolvers();
  await withServer(closingAfterResponse(counts, false), async (client, origin) => {
    await readAll(await client.send(origin, request), 100);
    await closed.promise;
    await ioTurn();
    await readAll(await client.send(origin, request), 100);
    assertEquals(counts, { connections: 2, requests: 2 });
  });
});

for (
  const [what, fields, resent] of [
    ["a POST", {}, false],
    ["a POST that is repeatable", { isRepeatable: true }, true],
    ["a GET", { method: "GET" }, true],
  ] as const
) {
  Deno.test(`HttpClient ${resent ? "resends" : "does not resend"} ${what} when its reused connection breaks`, async () => {
    const counts = { connections: 0, requests: 0 };
    await withServer(closingAfterResponse(counts, true), async (client, origin) => {
      await readAll(await client.send(origin, request), 100);
      const outcome = await client.send(origin, { ...request, ...fields }).then(
        (response) => readAll(response, 100).then(() => "answered"),
        (error) => `${error.kind} ${error.progress}`,
      );
      assertEquals(outcome, resent ? "answered" : "closed sent");
      assertEquals(counts, resent ? { connections: 2, requests: 3 } : { connections: 1, requests: 2 });
    });
  });
}

Deno.test("HttpClient does not resend a request when a new connection is closed without a response", async () => {
  let connections = 0;
  await withServer(async (connection) => {
    connections++;
    await readRequest(connection);
    connection.close();
  }, async (client, origin) => {
    const error = await assertRejects(() => client.send(origin, request), ConnectionError);
    assertEquals(error.kind, "closed");
    assertEquals(connections, 1);
  });
});

Deno.test("HttpClient merges chunks that arrive together and returns null at the end", async () => {
  await withServer(async (connection) => {
    await readRequest(connection);
    await write(connection, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n");
  }, async (client, origin) => {
    const response = await client.send(origin, request);
    assertEquals(new TextDecoder().decode(await response.read() ?? undefined), "abcde");
    assertEquals(await response.read(), null);
  });
});

Deno.test("HttpClient reports a body that ends early", async () => {
  await withServer(async (connection) => {
    await readRequest(connection);
    await write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    connection.close();
  }, async (client, origin) => {
    const response = await client.send(origin, request);
    const error = await assertRejects(() => readAll(response, 100), ConnectionError);
    assertEquals(error.kind, "closed");
  });
});

Deno.test("HttpClient skips informational responses", async () => {
  await withServer(async (connection) => {
    await readRequest(connection);
    await write(
      connection,
      "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
    );
  }, async (client, origin) => {
    assertEquals((await client.send(origin, request)).status, 201);
  });
});

Deno.test("HttpClient aborts a pending request on cancel", async () => {
  await withServer(async (connection) => void await readRequest(connection), async (client, origin) => {
    let cancel = () => {};
    const pending = client.send(origin, request, (stop) => void (cancel = stop));
    setTimeout(() => cancel(), 5);
    const error = await assertRejects(() => pending, ConnectionError);
    assertEquals(error.kind, "cancelled");
  });
});

Deno.test("HttpClient ignores a cancel after the complete response, so that it does not affect another exchange", async () => {
  let connections = 0;
  await withServer(async (connection) => {
    connections++;
    while (await readRequest(connection)) await write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  }, async (client, origin) => {
    let cancel = () => {};
    await readAll(await client.send(origin, request, (stop) => void (cancel = stop)), 100);
    cancel();
    await readAll(await client.send(origin, request), 100);
    assertEquals(connections, 1);
  });
});

for (
  const [what, head] of [
    ["two lengths that differ", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"],
    ["an unknown transfer coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"],
    ["no HTTP at all", "SSH-2.0-OpenSSH_9.2\r\n\r\n"],
  ] as const
) {
  Deno.test(`HttpClient rejects a response with ${what}`, async () => {
    await withServer(async (connection) => {
      await readRequest(connection);
      await write(connection, head);
    }, async (client, origin) => {
      const error = await assertRejects(() => client.send(origin, request), ConnectionError);
      assertEquals(error.kind, "protocol");
    });
  });
}

Deno.test("HttpClient reports a refused connection", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  const client = createHttpClient({ clock: systemClock });
  const error = await assertRejects(
    () => client.send(originOf(new URL(`http://127.0.0.1:${port}`)), request),
    ConnectionError,
  );
  assertEquals(error.kind, "connect");
});

Deno.test("readAll() stops at its size limit", async () => {
  await withServer(async (connection) => {
    await readRequest(connection);
    await write(connection, `HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n${"x".repeat(100)}`);
  }, async (client, origin) => {
    const response = await client.send(origin, request);
    await assertRejects(() => readAll(response, 10), ConnectionError, "too long");
  });
});

Deno.test("a client throws an error of the gateway as it is: no vendor caused it", async () => {
  const client = createHttpClient({ clock: systemClock });
  try {
    const origin = { tls: false, hostname: "127.0.0.1", port: 70_000 };
    await assertRejects(
      () => client.send(origin, { method: "GET", path: "/", headerLines: "", body: null }),
      RangeError,
    );
  } finally {
    client.close();
  }
});
