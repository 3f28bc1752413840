import { assertEquals, assertGreater, assertRejects } from "@std/assert";
import { readCidr } from "../../src/platform/net/address.ts";
import { EgressError } from "../../src/platform/net/egress_error.ts";
import {
  createPinnedPoster,
  type PinnedPost,
  type PinnedPoster,
  type PostResponse,
} from "../../src/platform/net/pinned_post.ts";
import type { EgressPolicy } from "../../src/platform/net/target.ts";
import { atLeast, itemAt } from "../support/items.ts";
import { ManualClock, until } from "../support/manual_clock.ts";
import { CERTIFICATE } from "../webhooks/certificates.ts";
import {
  type Behaviour,
  LOOPBACK,
  neverRespond,
  type Receiver,
  respondKeepAlive,
  respondWith,
  sendText,
  startReceiver,
} from "../webhooks/receiver.ts";

const body = new TextEncoder().encode('{"a":1}');

interface PosterSetup {
  readonly receiver: Receiver;
  readonly poster: PinnedPoster;
  post(options?: Partial<PinnedPost> & { readonly host?: string }): Promise<PostResponse>;
}

/** Runs a test with a receiver and a poster that reaches it. */
async function withPoster(
  behave: Behaviour,
  test: (setup: PosterSetup) => Promise<void>,
  policy: EgressPolicy = LOOPBACK,
) {
  const receiver = startReceiver(behave);
  const poster = createPinnedPoster(policy);
  const common = { headers: { "x-key": "1" }, body, timeoutMs: 5_000, capBytes: 16_384, bodyMs: 100 };
  try {
    await test({
      receiver,
      poster,
      post({ host = "receiver.example", ...options } = {}) {
        return poster.post(`https://${host}:${receiver.port}/hook`, { ...common, ...options });
      },
    });
  } finally {
    poster.close();
    await receiver.stop();
  }
}

/** Handles the first request with the first behaviour, the second with the second; the last repeats. */
function inSequence(...behaviours: Behaviour[]): Behaviour {
  let index = 0;
  return (request, connection) => itemAt(behaviours, Math.min(index++, behaviours.length - 1))(request, connection);
}

async function kindOf(work: Promise<unknown>): Promise<string> {
  return (await assertRejects(() => work, EgressError)).kind;
}

Deno.test("a poster sends several POSTs over one connection", async () => {
  await withPoster(respondKeepAlive(204), async ({ receiver, post }) => {
    for (const text of ["one", "two", "three"]) {
      const answer = await post({ body: new TextEncoder().encode(text), headers: { "x-key": text } });
      assertEquals([answer.status, answer.bytes], [204, 0]);
    }
    assertEquals(receiver.connections, 1);
    assertEquals(receiver.received.map(({ body }) => new TextDecoder().decode(body)), ["one", "two", "three"]);
    assertEquals(receiver.received.map(({ headers }) => headers.get("x-key")), ["one", "two", "three"]);
    assertEquals(receiver.received[2]?.headers.get("host"), `receiver.example:${receiver.port}`);
  });
});

Deno.test("a connection is kept after a fully read body, whatever the status", async () => {
  const refusing: Behaviour = async (_request, connection) => {
    await sendText(connection, "HTTP/1.1 503 No\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbusy\r\n");
    await sendText(connection, "0\r\n\r\n");
    return "next" as const;
  };
  await withPoster(refusing, async ({ receiver, post }) => {
    for (let n = 0; n < 2; n++) assertEquals((await post()).status, 503);
    assertEquals(receiver.connections, 1);
  });
});

Deno.test("concurrent POSTs have separate connections", async () => {
  await withPoster(respondKeepAlive(200), async ({ receiver, post }) => {
    await Promise.all([post(), post(), post()]);
    assertEquals(receiver.connections, 3);
    await Promise.all([post(), post(), post()]);
    assertEquals(receiver.connections, 3);
  });
});

Deno.test("two names of one address do not share a connection", async () => {
  await withPoster(respondKeepAlive(204), async ({ receiver, post }) => {
    await post();
    await post({ host: "other.receiver.example" });
    await post();
    assertEquals(receiver.connections, 2);
    assertEquals(receiver.received.map(({ headers }) => headers.get("host")?.split(":")[0]), [
      "receiver.example",
      "other.receiver.example",
      "receiver.example",
    ]);
  });
});

/** False where the machine has no IPv6. */
function hasTwoLoopbacks(): boolean {
  try {
    Deno.listen({ hostname: "::1", port: 0 }).close();
    return true;
  } catch {
    return false;
  }
}

Deno.test({
  name: "a name whose address changes is reached at the new address, over a new connection",
  ignore: !hasTwoLoopbacks(),
  async fn() {
    let answer = ["127.0.0.1"];
    const allow = [readCidr("127.0.0.1/32"), readCidr("::1/128")];
    const policy = { ...LOOPBACK, allow, resolve: () => Promise.resolve(answer) };
    await withPoster(respondKeepAlive(200), async ({ receiver, post }) => {
      const moved = startReceiver(respondKeepAlive(201), CERTIFICATE, { hostname: "::1", port: receiver.port });
      assertEquals((await post()).status, 200);
      answer = ["::1"];
      assertEquals((await post()).status, 201);
      answer = ["::1", "127.0.0.1"];
      assertEquals((await post()).status, 201); // the poster prefers the connection that was used last
      assertEquals([receiver.connections, moved.connections], [1, 1]);
      await moved.stop();
    }, policy);
  },
});

Deno.test("a name that changes to a forbidden address is rejected though a connection to it is idle", async () => {
  const answers = [["127.0.0.1"], ["169.254.169.254"], ["127.0.0.1", "10.0.0.1"]];
  const policy = { ...LOOPBACK, resolve: () => Promise.resolve(answers.shift() ?? []) };
  await withPoster(respondKeepAlive(204), async ({ receiver, post }) => {
    await post();
    assertEquals(await kindOf(post()), "refused");
    assertEquals(await kindOf(post()), "refused");
    assertEquals(await kindOf(post()), "unresolved");
    assertEquals([receiver.received.length, receiver.connections], [1, 1]);
  }, policy);
});

const CLOSING_RESPONSES: Readonly<Record<string, string>> = {
  "says that it closes": "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
  "is HTTP/1.0": "HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n",
  "ends with the connection": "HTTP/1.1 200 OK\r\n\r\nhello",
  "is longer than the cap": `HTTP/1.1 200 OK\r\ncontent-length: 20000\r\n\r\n${"x".repeat(20_000)}`,
  "is not sent to its end": "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nhello",
  "is longer than it says": "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nhello",
  "is framed wrongly": "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nhello",
};

for (const [which, text] of Object.entries(CLOSING_RESPONSES)) {
  Deno.test(`a connection is closed after a response that ${which}`, async () => {
    const behave: Behaviour = async (_request, connection) => {
      await sendText(connection, text);
      return "next" as const;
    };
    await withPoster(behave, async ({ receiver, post }) => {
      for (let n = 0; n < 2; n++) assertEquals((await post({ bodyMs: 20 })).status, 200);
      assertEquals(receiver.connections, 2);
      await until(() => receiver.open === 0);
    });
  });
}

Deno.test("a POST is resent on a new connection when the receiver closes the idle one without a response", async () => {
  await withPoster(inSequence(respondKeepAlive(200), () => {}, respondKeepAlive(202)), async ({ receiver, post }) => {
    await post({ headers: { "x-key": "first" } });
    assertEquals((await post()).status, 202);
    assertEquals(receiver.connections, 2);
    const [, lost, again] = atLeast(receiver.received, 3);
    assertEquals([again.body, ...again.headers], [lost.body, ...lost.headers]);
  });
});

Deno.test("a resent POST uses a new connection though others are idle, and is not resent again", async () => {
  await withPoster(inSequence(respondKeepAlive(200), respondKeepAlive(200), () => {}), async ({ receiver, post }) => {
    await Promise.all([post(), post()]);
    assertEquals(await kindOf(post()), "broken");
    assertEquals([receiver.received.length, receiver.connections], [4, 3]);
  });
});

Deno.test("a POST is not resent when a new connection breaks, or after its response has started", async () => {
  await withPoster(() => {}, async ({ receiver, post }) => {
    assertEquals(await kindOf(post()), "broken");
    assertEquals(receiver.received.length, 1);
  });
  const respondingPartly: Behaviour = (_request, connection) => sendText(connection, "HTTP/1.1 20");
  await withPoster(inSequence(respondKeepAlive(200), respondingPartly), async ({ receiver, post }) => {
    await post();
    assertEquals(await kindOf(post()), "broken");
    assertEquals(receiver.received.length, 2);
  });
});

Deno.test("a POST is not resent when a reused connection breaks after two seconds", async () => {
  for (const [afterMs, kind] of [[2_000, "none"], [2_001, "broken"]] as const) {
    const clock = new ManualClock();
    const delaying: Behaviour = () => clock.advance(afterMs);
    await withPoster(inSequence(respondKeepAlive(200), delaying, respondKeepAlive(200)), async ({ receiver, post }) => {
      await post();
      const outcome = await post().then(() => "none", (error) => error.kind);
      assertEquals([outcome, receiver.received.length], [kind, kind === "none" ? 3 : 2]);
    }, { ...LOOPBACK, clock });
  }
});

/** With this clock no connection is closed for being idle. */
const FROZEN_CLOCK: EgressPolicy = { ...LOOPBACK, clock: new ManualClock() };

Deno.test("an idle connection that the receiver closed is not reused", async () => {
  await withPoster(respondWith(204), async ({ receiver, post }) => {
    for (let n = 0; n < 3; n++) {
      assertEquals((await post()).status, 204);
      await until(() => receiver.open === 0);
    }
    assertEquals([receiver.received.length, receiver.connections], [3, 3]);
  }, FROZEN_CLOCK);
});

Deno.test("unsolicited bytes from a receiver close the idle connection and answer no request", async () => {
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
  const unsolicited: Behaviour = async (request, connection) => {
    await respondKeepAlive(200)(request, connection);
    await mayGoOn;
    await respondWith(299)(request, connection);
    return "next" as const;
  };
  await withPoster(inSequence(unsolicited, respondKeepAlive(201)), async ({ receiver, post }) => {
    await post();
    goOn();
    await until(() => receiver.open === 0);
    assertEquals((await post()).status, 201);
  }, FROZEN_CLOCK);
});

Deno.test("an idle connection is closed after four seconds", async () => {
  const clock = new ManualClock();
  await withPoster(respondKeepAlive(204), async ({ receiver, post }) => {
    await post();
    clock.advance(3_999);
    await post();
    assertEquals([receiver.connections, receiver.open], [1, 1]);
    clock.advance(4_000);
    await until(() => receiver.open === 0);
    await post();
    assertEquals(receiver.connections, 2);
  }, { ...LOOPBACK, clock });
});

Deno.test("a connection in constant use is closed a minute after it was opened", async () => {
  const clock = new ManualClock();
  await withPoster(respondKeepAlive(204), async ({ receiver, post }) => {
    for (let second = 0; second < 60; second += 3) {
      await post();
      clock.advance(3_000);
    }
    await until(() => receiver.open === 0);
    assertEquals(receiver.connections, 1);
    await post();
    assertEquals(receiver.connections, 2);
  }, { ...LOOPBACK, clock });
});

Deno.test("a closed poster keeps no connection, and closes the idle ones", async () => {
  const clock = new ManualClock();
  await withPoster(respondKeepAlive(204), async ({ receiver, poster, post }) => {
    await post();
    poster.close();
    await until(() => receiver.open === 0);
    assertEquals((await post()).status, 204);
    await until(() => receiver.open === 0);
    assertEquals(receiver.connections, 2);
  }, { ...LOOPBACK, clock });
});

Deno.test("a POST over a reused connection ends at its timeout and on its signal, and closes the connection", async () => {
  await withPoster(
    inSequence(respondKeepAlive(200), neverRespond, respondKeepAlive(200), neverRespond),
    async ({ receiver, post }) => {
      await post();
      assertEquals(await kindOf(post({ timeoutMs: 50 })), "timeout");
      await until(() => receiver.open === 0);
      await post();
      const giveUp = new AbortController();
      const work = post({ signal: giveUp.signal });
      await until(() => receiver.received.length === 4);
      giveUp.abort();
      assertEquals(await kindOf(work), "aborted");
      await until(() => receiver.open === 0);
      assertEquals(receiver.connections, 2);
      assertEquals(await kindOf(post({ signal: giveUp.signal })), "aborted");
    },
  );
});

Deno.test("a response stays valid when the timeout or the signal comes during its body", async () => {
  let isBeingRead = false;
  const endless: Behaviour = async (_request, connection) => {
    await sendText(connection, "HTTP/1.1 202 OK\r\n\r\n");
    const chunk = "x".repeat(1_000_000);
    for (let sent = 0; sent < 24; sent++) await sendText(connection, chunk); // more than the socket buffers hold
    isBeingRead = true;
    await neverRespond(_request, connection);
  };
  await withPoster(endless, async ({ receiver, post }) => {
    const largeLimits = { capBytes: 100_000_000, bodyMs: 60_000 };
    assertEquals((await post({ ...largeLimits, timeoutMs: 200 })).status, 202);
    await until(() => receiver.open === 0);
    isBeingRead = false;
    const giveUp = new AbortController();
    const work = post({ ...largeLimits, signal: giveUp.signal });
    await until(() => isBeingRead);
    giveUp.abort();
    assertEquals((await work).status, 202);
    await until(() => receiver.open === 0);
  });
});

Deno.test("an address whose TLS handshake times out is followed by the next address", async () => {
  const clock = new ManualClock();
  const silentListener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const poster = createPinnedPoster({ ...LOOPBACK, clock, resolve: () => Promise.resolve(["127.0.0.1", "127.0.0.1"]) });
  const url = `https://receiver.example:${silentListener.addr.port}/`;
  const work = poster.post(url, { headers: {}, body, timeoutMs: 10_000, connectMs: 3_000, capBytes: 100 });
  const outcome = kindOf(work);
  const tries: Deno.Conn[] = [];
  for (let address = 0; address < 2; address++) {
    const connection = await silentListener.accept();
    tries.push(connection);
    assertGreater(await connection.read(new Uint8Array(4_096)) ?? 0, 0, "it says hello");
    clock.advance(3_000);
  }
  assertEquals(await outcome, "connect");
  for (const connection of tries) connection.close();
  poster.close();
  silentListener.close();
});

Deno.test("a post that fails by a mistake of the gateway does not blame the receiver", async () => {
  const headers = {
    get "x-key"(): string {
      throw new TypeError("a mistake");
    },
  };
  await withPoster(respondKeepAlive(204), async ({ post }) => {
    await assertRejects(() => post({ headers }), TypeError, "a mistake");
  });
});
