import { assert, assertEquals, assertLess } from "@std/assert";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { readCidr } from "../../src/platform/net/address.ts";
import { createPinnedPoster, type PinnedPoster } from "../../src/platform/net/pinned_post.ts";
import type { EgressPolicy } from "../../src/platform/net/target.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { keptBytesOf, makeAttempt } from "../../src/services/webhooks/attempt.ts";
import type { AttemptEnd, Delivery } from "../../src/services/webhooks/delivery.ts";
import { createWebhooks } from "../../src/services/webhooks/webhooks.ts";
import { atLeast, itemAt } from "../support/items.ts";
import { ManualClock, until } from "../support/manual_clock.ts";
import { EXPIRED_CERTIFICATE } from "./certificates.ts";
import {
  type Behaviour,
  LOOPBACK,
  neverRespond,
  type Receiver,
  respondKeepAlive,
  respondWith,
  sendText,
  startReceiver,
} from "./receiver.ts";
import { end, endedTask, SECRET } from "./support.ts";
import { storeTimeOf } from "../../src/platform/store/store_time.ts";

const body = new TextEncoder().encode('{"event":"video.generation.completed"}');
const delivery: Delivery = {
  id: "0b5f3f5e-2f36-4d0a-9d56-0d8a4e6f7a11",
  account: "demo",
  status: "completed",
  url: "",
  createdAt: storeTimeOf(0),
  state: "pending",
  attempts: 0,
  attemptsBefore: 0,
  nextAttemptAt: storeTimeOf(0),
  settledAt: null,
  body: { pieces: 1, bytes: body.length },
};

interface AttemptOptions {
  readonly url?: string;
  readonly policy?: EgressPolicy;
  readonly timeoutMs?: number;
  readonly bodyMs?: number;
  readonly signal?: AbortSignal;
  readonly body?: Uint8Array;
  /** Whose connections it may use. */
  readonly poster?: PinnedPoster;
}

/** Makes one attempt at a port, with a short timeout. */
async function attemptAt(port: number, options: AttemptOptions = {}): Promise<AttemptEnd> {
  const { policy = LOOPBACK, timeoutMs = 400, bodyMs = 100, url = `https://receiver.example:${port}/hook?a=1` } =
    options;
  const poster = options.poster ?? createPinnedPoster(policy);
  try {
    return await makeAttempt({
      now: () => storeTimeOf(Date.now()),
      clock: systemClock,
      post: (address, request) =>
        poster.post(address, { ...request, timeoutMs, capBytes: 16_384, keptBytes: keptBytesOf, bodyMs }),
      delivery: { ...delivery, url },
      body: options.body ?? body,
      secrets: [SECRET],
      signal: options.signal ?? new AbortController().signal,
    });
  } finally {
    if (options.poster === undefined) poster.close();
  }
}

async function withReceiver<T>(behave: Behaviour, play: (receiver: Receiver) => Promise<T>, certificate?: string) {
  const receiver = startReceiver(behave, certificate);
  try {
    return await play(receiver);
  } finally {
    await receiver.stop();
  }
}

async function outcomeOf(behave: Behaviour, options: AttemptOptions = {}, certificate?: string) {
  const { attempt } = await withReceiver(behave, ({ port }) => attemptAt(port, options), certificate);
  return [attempt.status, attempt.failure, attempt.reason];
}

Deno.test("an attempt posts the stored bytes with the event's headers to the callback address", async () => {
  await withReceiver(respondWith(204), async (receiver) => {
    const { attempt } = await attemptAt(receiver.port);
    assertEquals([attempt.number, attempt.status, attempt.failure], [1, 204, null]);
    const { path, headers, body: bytes } = itemAt(receiver.received, 0);
    assertEquals([path, bytes, headers.get("content-type")], ["/hook?a=1", body, "application/json"]);
    assertEquals(headers.get("x-service-idempotency-key"), `${delivery.id}-completed`);
    assertEquals(headers.get("host"), `receiver.example:${receiver.port}`);
    assert(headers.has("x-service-signature") && headers.has("webhook-signature"));
  });
});

Deno.test("a body of 100 KB arrives whole", async () => {
  const long = new TextEncoder().encode(JSON.stringify({ prompt: "☾".repeat(34_000) }));
  await withReceiver(respondWith(200), async (receiver) => {
    await attemptAt(receiver.port, { body: long, timeoutMs: 5_000 });
    assertEquals(itemAt(receiver.received, 0).body, long);
  });
});

Deno.test("the start of each answer is kept, less of one that acknowledges, in pieces or chunks too", async () => {
  const answering = (status: number, text: string): Behaviour => (_request, connection) =>
    sendText(connection, `HTTP/1.1 ${status} No\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
  const chunked: Behaviour = async (_request, connection) => {
    for (
      const text of ["HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n", "3\r\nno \r\n", "4\r\nsuch\r\n0\r\n\r\n"]
    ) {
      await sendText(connection, text);
    }
  };
  for (
    const [behave, start] of [
      [answering(403, "wrong\n\u001b[31msignature\u0000 "), "wrong\n[31msignature"],
      [answering(500, "x".repeat(5_000)), "x".repeat(1_000)],
      [answering(500, " "), undefined],
      [answering(500, `${"x".repeat(999)}\u00e9`), "x".repeat(999)],
      [answering(200, "fine\u001b[2J"), "fine[2J"],
      [answering(200, "y".repeat(5_000)), "y".repeat(200)],
      [answering(302, "elsewhere"), "elsewhere"],
      [chunked, "no such"],
    ] as const
  ) {
    await withReceiver(behave, async ({ port }) => {
      const { attempt } = await attemptAt(port, { timeoutMs: 60_000, bodyMs: 60_000 });
      assertEquals(attempt.answerStart, start);
    });
  }
});

Deno.test("only a 2xx status acknowledges an event", async () => {
  for (const status of [200, 201, 204, 299]) assertEquals(await outcomeOf(respondWith(status)), [status, null, null]);
  for (const status of [400, 401, 404, 410, 429, 500, 503]) {
    assertEquals(await outcomeOf(respondWith(status)), [status, "status", null]);
  }
});

Deno.test("an attempt whose reused connection breaks repeats the request over another one", async () => {
  const poster = createPinnedPoster(LOOPBACK);
  let turn = 0;
  const behave: Behaviour = (request, connection) =>
    turn++ === 1 ? undefined : respondKeepAlive(204)(request, connection);
  await withReceiver(behave, async (receiver) => {
    await attemptAt(receiver.port, { poster });
    const { attempt } = await attemptAt(receiver.port, { poster });
    assertEquals([attempt.number, attempt.status, attempt.failure], [1, 204, null]);
    const [, lost, again] = atLeast(receiver.received, 3);
    assertEquals([again.body, ...again.headers], [lost.body, ...lost.headers]);
    assertEquals([receiver.received.length, receiver.connections], [3, 2]);
  });
  poster.close();
});

Deno.test("events to one receiver share a connection, and a drained runner leaves none open", async () => {
  const store = await openMemoryStore({ clock: systemClock });
  await createAccount(store, { id: "demo", balance: 0n, webhookSecret: SECRET });
  const egress = { ...LOOPBACK, clock: new ManualClock() }; // so that none is closed as idle
  const parts = { store, clock: systemClock, log: silentLog, egress, timeoutMs: 10_000, random: () => 0 };
  const webhooks = createWebhooks(parts);
  await withReceiver(respondKeepAlive(204), async (receiver) => {
    const runner = webhooks.startJobs();
    const callbackUrl = `https://receiver.example:${receiver.port}/`;
    for (let n = 1; n <= 3; n++) {
      await end({ store, webhooks }, endedTask({ endedAt: Date.now(), callbackUrl }));
      await until(() => receiver.received.length === n && runner.running === 0);
    }
    assertEquals([receiver.connections, receiver.open], [1, 1]);
    await runner.drain(0);
    await until(() => receiver.open === 0);
  });
  await store.close();
});

Deno.test("a redirect is a failure and is not followed", async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    await withReceiver(respondWith(200), async (other) => {
      const location = `https://receiver.example:${other.port}/`;
      assertEquals(await outcomeOf(respondWith(status, { location })), [status, "redirect", null]);
      assertEquals(other.received, []);
    });
  }
});

Deno.test("Retry-After of a rejection is used by the schedule", async () => {
  await withReceiver(respondWith(429, { "retry-after": "30" }), async ({ port }) => {
    assertEquals((await attemptAt(port)).retryAfterMs, 30_000);
  });
});

Deno.test("a receiver that hangs or sends its headers slowly fails at the timeout", async () => {
  const dripping: Behaviour = async (_request, connection) => {
    for (const sign of "HTTP/1.1 200 OK\r\nx-slow: 1\r\n\r\n") {
      await sendText(connection, sign);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
  };
  for (const behave of [neverRespond, dripping]) {
    await withReceiver(behave, async ({ port }) => {
      const { attempt } = await attemptAt(port);
      assertEquals([attempt.status, attempt.failure], [null, "timeout"]);
      assert(attempt.durationMs >= 395, `it lasted ${attempt.durationMs} ms`);
    });
  }
});

Deno.test("an event stays acknowledged whatever the response body is; only its first bytes are read", async () => {
  let sent = 0;
  const endless: Behaviour = async (_request, connection) => {
    await sendText(connection, "HTTP/1.1 200 OK\r\n\r\n");
    for (;;) {
      await sendText(connection, "x".repeat(65_536));
      sent += 65_536;
    }
  };
  const dripping: Behaviour = async (_request, connection) => {
    await sendText(connection, "HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n");
    for (;;) {
      await sendText(connection, "x");
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  };
  const lying: Behaviour = (_request, connection) =>
    sendText(connection, "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nfour");
  const cut: Behaviour = (_request, connection) =>
    sendText(connection, "HTTP/1.1 202 OK\r\ncontent-length: 30\r\n\r\nfour");
  for (const behave of [endless, dripping, lying, cut]) {
    await withReceiver(behave, async ({ port }) => {
      const { attempt } = await attemptAt(port, { timeoutMs: 5_000 });
      assertEquals(attempt.failure, null);
      assertLess(attempt.answerBytes, 16_384 + 65_536);
    });
  }
  assertLess(sent, 20_000_000);
});

Deno.test("a receiver that resets the connection or does not speak HTTP fails as broken", async () => {
  assertEquals(await outcomeOf(() => {}), [null, "broken", null]);
  assertEquals(await outcomeOf((_request, connection) => sendText(connection, "hello\r\n\r\n")), [
    null,
    "broken",
    null,
  ]);
  assertEquals(await outcomeOf((_request, connection) => sendText(connection, "HTTP/1.1 200")), [null, "broken", null]);
});

Deno.test("an expired certificate, one for another name and one of an unknown authority fail with that reason", async () => {
  assertEquals(await outcomeOf(respondWith(200), {}, EXPIRED_CERTIFICATE), [null, "tls", "certificate_expired"]);
  const untrusted = { policy: { ...LOOPBACK, caCertificates: [] } };
  assertEquals(await outcomeOf(respondWith(200), untrusted), [null, "tls", "certificate_untrusted"]);
  await withReceiver(respondWith(200), async ({ port, received }) => {
    const { attempt } = await attemptAt(port, { url: `https://other.example:${port}/` });
    assertEquals([attempt.failure, attempt.reason], ["tls", "certificate_name"]);
    assertEquals(received, []);
  });
});

Deno.test("a server with plain HTTP or only an old TLS version fails", async () => {
  const plain = await rawServer("HTTP/1.1 400 Bad Request\r\n\r\n");
  assertEquals((await attemptAt(plain.port)).attempt.failure, "tls");
  await plain.stop();
  const old = await rawServer("\x15\x03\x01\x00\x02\x02\x46"); // the alert protocol_version, RFC 8446, 6.2
  const { attempt } = await attemptAt(old.port);
  assertEquals([attempt.failure, attempt.reason], ["tls", "protocol"]);
  await old.stop();
});

Deno.test("a closed port fails as connect, a handshake that hangs as timeout", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const { attempt: hung } = await attemptAt(port);
  assertEquals(hung.failure, "timeout");
  listener.close();
  assertEquals((await attemptAt(port)).attempt.failure, "connect");
});

Deno.test("a name that resolves to forbidden addresses at delivery is blocked without a connection", async () => {
  await withReceiver(respondWith(200), async ({ port, received }) => {
    const answers = [["127.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["93.184.216.34", "::1"], ["169.254.169.254"]];
    for (const answer of answers) {
      const policy = { ...LOOPBACK, allow: [], resolve: () => Promise.resolve(answer) };
      const { attempt } = await attemptAt(port, { policy });
      assertEquals([attempt.failure, attempt.reason], ["blocked", "private_address"]);
    }
    const unresolved = { ...LOOPBACK, resolve: () => Promise.resolve([]) };
    assertEquals((await attemptAt(port, { policy: unresolved })).attempt.failure, "unresolved");
    assertEquals(received, []);
  });
});

const FORBIDDEN: readonly [reason: string, ...addresses: string[]][] = [
  ["syntax", "//host/x", "https:", "", "javascript:alert(1)"],
  ["scheme", "http://receiver.example/", "ftp://receiver.example/"],
  ["length", `https://receiver.example/${"a".repeat(3_000)}`],
  ["userinfo", "https://user:pw@receiver.example/", "https://receiver.example:443@127.0.0.1/"],
  [
    "private_address",
    ...["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.1.", "①②⑦.0.0.1", "127。0。0。1"],
    ...["127\u00ad.0.0.1", "0", "0.0.0.0", "[::]", "10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255"],
    ...["192.168.0.0", "192.168.255.255", "100.64.0.0", "100.127.255.255", "169.254.169.254", "169.254.170.2"],
    ...["169.254.170.23", "[fd00:ec2::254]", "[fd00:ec2::23]", "[fd20:ce::254]", "168.63.129.16", "100.100.100.200"],
    ...["192.0.0.192", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::ffff:0:7f00:1]"],
    ...["[64:ff9b::7f00:1]", "[64:ff9b:1::1]", "[2002:7f00:1::]", "[2001:0:1::1]", "[::5efe:7f00:1]", "[fe80::1]"],
    ...["[fec0::1]", "[fc00::1]", "[ff02::1]", "[100::1]", "[5f00::1]", "[2001:db8::1]", "224.0.0.1", "240.0.0.1"],
    ...["255.255.255.255", "192.0.2.1", "198.18.0.1", "203.0.113.9", "192.88.99.1"],
  ].map((host, index) => index === 0 ? host : `https://${host}/`) as [string, ...string[]],
  [
    "local_name",
    ...["localhost", "LOCALHOST", "localhost.", "a.localhost", "printer.local", "intranet", "metadata.google.internal"]
      .map((host) => `https://${host}/`),
    ...["metadata.goog", "instance-data"].map((host) => `https://${host}/`),
  ],
  ["port", ...[0, 22, 25, 6667].map((port) => `https://receiver.example:${port}/`)],
  ["own_address", "https://gateway.example:8443/"],
];

Deno.test("every forbidden spelling of an address is blocked at delivery, by its rule", async () => {
  const policy: EgressPolicy = {
    allow: [],
    own: [{ host: "gateway.example", port: 8443 }],
    resolve: () => Promise.reject(new Error("no name is looked up")),
  };
  for (const [reason, ...addresses] of FORBIDDEN) {
    for (const url of addresses) {
      const { attempt } = await attemptAt(0, { url, policy });
      assertEquals([url, attempt.failure, attempt.reason], [url, "blocked", reason]);
    }
  }
});

Deno.test("an aborted attempt is not recorded", async () => {
  await withReceiver(neverRespond, async ({ port }) => {
    const giveUp = new AbortController();
    const work = attemptAt(port, { signal: giveUp.signal, timeoutMs: 10_000 });
    setTimeout(() => giveUp.abort(), 20);
    assertEquals(await work.catch((error) => error.kind), "aborted");
  });
});

Deno.test("an IP address in the URL reaches the receiver with its own certificate", async () => {
  const policy = { ...LOOPBACK, allow: [readCidr("127.0.0.0/8")] };
  await withReceiver(respondWith(200), async ({ port }) => {
    const { attempt } = await attemptAt(port, { url: `https://127.0.0.1:${port}/`, policy });
    assertEquals(attempt.failure, null);
  });
});

/** A server that responds to the first bytes with these and closes the connection. */
function rawServer(text: string): Promise<{ port: number; stop(): Promise<void> }> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    const connection = await listener.accept();
    await connection.read(new Uint8Array(4_096));
    await connection.write(Uint8Array.from(text, (sign) => sign.charCodeAt(0)));
    await connection.closeWrite();
    while (await connection.read(new Uint8Array(4_096)).catch(() => null) !== null);
    connection.close();
  })();
  return Promise.resolve({
    port: listener.addr.port,
    async stop() {
      await serving;
      listener.close();
    },
  });
}
