import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { messages } from "../../src/conversation/codecs/messages/mod.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { createRedactor } from "../../src/platform/lib/text/redact.ts";
import { TICK_MS } from "../../src/platform/net/deadline.ts";
import { createHttpClient, type HttpClient } from "../../src/platform/net/http1/client.ts";
import type { HttpResponse } from "../../src/platform/net/http1/response.ts";
import { ResponseHead } from "../../src/platform/net/http1/response_head.ts";
import { originOf } from "../../src/platform/net/http1/wire_request.ts";
import { gatewayErrorFor, UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import type { Outbound, OutboundCall } from "../../src/vendors/upstreams/call/outbound_call.ts";
import { createOutbound } from "../../src/vendors/upstreams/call/outbound.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock, until } from "../support/manual_clock.ts";
import {
  always,
  answer,
  type ScriptedUpstream,
  startScriptedUpstream,
  STREAM_HEAD,
  type VendorConnection,
} from "../support/scripted_upstream.ts";

const KEY = "a-key-of-ours/77";
const IDLE_MS = 1_000;
const FIRST_BYTE_MS = 5_000;
/** The latest time of the first check for the caller. */
const PATIENCE_MS = 250 + TICK_MS;

interface Stage {
  readonly outbound: Outbound;
  readonly vendor: ScriptedUpstream;
  readonly clock: ManualClock;
}

async function onStage(script: (side: VendorConnection) => Promise<void>, play: (stage: Stage) => Promise<void>) {
  const vendor = startScriptedUpstream(script);
  const clock = new ManualClock(Date.UTC(2026, 10, 21, 9, 0, 0));
  const client = createHttpClient({ clock });
  const baseUrl = new URL(vendor.baseUrl);
  const outbound = createOutbound({
    provider: "acme",
    baseUrl,
    origin: originOf(baseUrl),
    headers: { authorization: `Bearer ${KEY}` },
    idleMs: IDLE_MS,
    firstByteMs: FIRST_BYTE_MS,
    client,
    clock,
    redact: createRedactor([KEY]),
  });
  try {
    await play({ outbound, vendor, clock });
    client.close();
    clock.advance(TICK_MS);
    assertEquals(clock.waiting, 0, "nothing is watched any more");
  } finally {
    client.close();
    await vendor.stop();
  }
}

function callWith(fields: Partial<OutboundCall> = {}): OutboundCall {
  return {
    method: "POST",
    path: "/messages",
    headers: {},
    body: new TextEncoder().encode('{"a":"ü"}'),
    firstByteMs: FIRST_BYTE_MS,
    callerSignal: null,
    readError: messages.upstream.readError,
    ...fields,
  };
}

async function failureOf(promise: Promise<unknown>): Promise<UpstreamFailure> {
  return await assertRejects(() => promise, UpstreamFailure);
}

function textOf(bytes: Uint8Array | null): string | null {
  return bytes && new TextDecoder().decode(bytes);
}

Deno.test("outbound sends key, fixed headers and body below the base URL, and reads the response", async () => {
  const reply = answer(200, '{"ok":true}', { "content-type": "Application/JSON; charset=utf-8", "x-a": "b" });
  await onStage(always(reply), async ({ outbound, vendor }) => {
    const response = await outbound.send(callWith({ path: "/messages?beta=true", headers: { "anthropic-beta": "x" } }));
    assertEquals([response.status, response.mediaType, response.header("x-a")], [200, "application/json", "b"]);
    assertEquals(textOf(await response.readAll(100)), '{"ok":true}');
    const { method, path, headers, body } = itemAt(vendor.seen, 0);
    assertEquals([method, path, body], ["POST", "/v1/messages?beta=true", '{"a":"ü"}']);
    assertEquals(headers.get("authorization"), `Bearer ${KEY}`);
    assertEquals(headers.get("content-type"), "application/json");
    assertEquals(headers.get("accept-encoding"), "identity");
    assertEquals(headers.get("anthropic-beta"), "x");
  });
});

for (
  const [status, kind, code, callerStatus] of [
    [400, "invalid", "invalid_request", 400],
    [401, "auth", "upstream_auth_failed", 401],
    [402, "unavailable", "upstream_error", 502],
    [403, "forbidden", "permission_denied", 403],
    [404, "invalid", "not_found", 404],
    [408, "timeout", "upstream_timeout", 504],
    [413, "invalid", "request_too_large", 413],
    [422, "invalid", "invalid_request", 422],
    [429, "rate_limited", "rate_limited", 429],
    [500, "unavailable", "upstream_error", 502],
    [503, "unavailable", "upstream_error", 502],
    [504, "timeout", "upstream_timeout", 504],
    [529, "unavailable", "upstream_error", 502],
  ] as const
) {
  Deno.test(`outbound reads a vendor's ${status} as "${kind}" with the vendor's message`, async () => {
    const body = JSON.stringify({ type: "error", error: { type: "some_error", message: "Said the vendor" } });
    await onStage(always(answer(status, body)), async ({ outbound }) => {
      const failure = await failureOf(outbound.send(callWith()));
      assertEquals([failure.kind, failure.message], [kind, "Said the vendor"]);
      assertEquals([failure.facts.status, failure.facts.vendorCode], [status, "some_error"]);
      const told = gatewayErrorFor(failure);
      assertEquals([told.code, told.status], [code, callerStatus]);
    });
  });
}

Deno.test("outbound reads a 400 for a rejected key as the provider's failure", async () => {
  const body = '{"error":{"code":400,"message":"API key not valid","details":[{"reason":"API_KEY_INVALID"}]}}';
  await onStage(always(answer(400, body)), async ({ outbound }) => {
    assertEquals((await failureOf(outbound.send(callWith()))).kind, "auth");
  });
});

for (
  const [name, body] of [
    ["text", "upstream connect error"],
    ["HTML", "<html><h1>502 Bad Gateway</h1></html>"],
    ["nothing", ""],
    ["more than it reads", `{"error":{"message":"${"x".repeat(300_000)}"}}`],
  ] as const
) {
  Deno.test(`outbound uses its own message for an error body of ${name}`, async () => {
    await onStage(always(answer(502, body)), async ({ outbound }) => {
      const failure = await failureOf(outbound.send(callWith()));
      assertEquals([failure.kind, failure.message], ["unavailable", 'Provider "acme" responded with status 502']);
    });
  });
}

Deno.test("outbound waits ten seconds for a slow error body, and not for the first byte timeout", async () => {
  await onStage(async (side) => {
    await side.request();
    await side.say("HTTP/1.1 500 Oh\r\ncontent-length: 100\r\n\r\nbeginning");
    await side.gone();
  }, async ({ outbound, clock }) => {
    let isOver = false;
    const failing = failureOf(outbound.send(callWith({ firstByteMs: 600_000 }))).finally(() => isOver = true);
    await until(() => clock.waiting > 0);
    clock.advance(300);
    // The first check precedes the response head, so the next would be after ten minutes.
    while (!isOver) {
      clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 1));
      assert(clock.now() < Date.UTC(2026, 10, 21, 9, 1, 0), "it ends within a minute");
    }
    assertEquals((await failing).message, 'Provider "acme" responded with status 500');
  });
});

Deno.test("outbound reuses a connection after an error body was read", async () => {
  await onStage(async (side) => {
    for (let nth = 0; await side.request() !== null; nth++) {
      await side.say(nth === 0 ? answer(503, '{"error":{"message":"full"}}') : answer(200, "{}"));
    }
  }, async ({ outbound, vendor }) => {
    await failureOf(outbound.send(callWith()));
    assertEquals(textOf(await (await outbound.send(callWith())).readAll(10)), "{}");
    assertEquals(vendor.connections, 1);
  });
});

for (
  const [value, seconds] of [
    ["7", 7],
    ["0", 1],
    ["1.2", 2],
    ["86400", 3600],
    ["99999999999999999999", 3600],
    ["Sat, 21 Nov 2026 09:00:30 GMT", 30],
    ["Saturday, 21-Nov-26 09:00:30 GMT", 30],
    ["Sat Nov 21 09:00:30 2026", 30],
    ["Sat, 21 Nov 2026 08:00:00 GMT", 1],
    ["-5", undefined],
    ["soon", undefined],
    ["May", undefined],
    ["", undefined],
  ] as const
) {
  Deno.test(`outbound reads Retry-After "${value}" as ${seconds} seconds by its clock`, async () => {
    await onStage(always(answer(429, "{}", { "retry-after": value })), async ({ outbound }) => {
      assertEquals((await failureOf(outbound.send(callWith()))).facts.retryAfterSeconds, seconds);
    });
  });
}

Deno.test("outbound redacts the key wherever a vendor returns it", async () => {
  const vendorMessage = { message: `Bad key ${KEY}`, type: `bad ${KEY}`, param: encodeURIComponent(KEY) };
  const readError = () => ({
    message: vendorMessage.message,
    code: vendorMessage.type,
    field: vendorMessage.param,
    retryAfterSeconds: null,
  });
  await onStage(always(answer(400, "{}")), async ({ outbound }) => {
    const { message, facts } = await failureOf(outbound.send(callWith({ readError })));
    assertEquals([message, facts.vendorCode, facts.field], ["Bad key [redacted]", "bad [redacted]", "[redacted]"]);
  });
});

Deno.test("outbound follows no redirect, and reports it", async () => {
  const redirect = answer(307, "", { location: "http://127.0.0.1:1/elsewhere" });
  await onStage(always(redirect), async ({ outbound, vendor }) => {
    const failure = await failureOf(outbound.send(callWith()));
    assertEquals(failure.kind, "broken");
    assertEquals(failure.message, 'Provider "acme" responded with status 307: redirects are not followed');
    assertEquals(vendor.seen.length, 1);
  });
});

Deno.test("outbound rejects a response with a content coding that was not requested", async () => {
  for (const coding of ["gzip", "br", "identity, gzip"]) {
    await onStage(always(answer(200, "xx", { "content-encoding": coding })), async ({ outbound }) => {
      assertEquals((await failureOf(outbound.send(callWith()))).kind, "broken");
    });
  }
  await onStage(always(answer(200, "{}", { "content-encoding": "Identity" })), async ({ outbound }) => {
    await (await outbound.send(callWith())).readAll(10);
  });
});

Deno.test("outbound rejects a header value with a line break before a request is sent", async () => {
  await onStage(always(answer(200, "{}")), async ({ outbound, vendor }) => {
    const bad: Record<string, string>[] = [{ a: "b\r\nx-evil: 1" }, { a: "b\nc" }, { a: "\0" }, { a: "ü" }, {
      "a: b\r\nc": "d",
    }, { "": "d" }];
    for (const headers of bad) {
      const error = await assertRejects(() => outbound.send(callWith({ headers })), GatewayError);
      assertEquals(error.code, "invalid_request");
    }
    assertEquals(vendor.connections, 0);
  });
  const options = { provider: "acme", idleMs: 1, firstByteMs: 1, clock: new ManualClock(), redact: createRedactor([]) };
  const baseUrl = new URL("http://127.0.0.1:1");
  const client = createHttpClient(options);
  const headers = { authorization: "Bearer a\r\nb" };
  assertThrows(
    () => createOutbound({ ...options, client, baseUrl, origin: originOf(baseUrl), headers }),
    GatewayError,
  );
});

Deno.test("outbound times out if a vendor does not respond, by its clock", async () => {
  await onStage(async (side) => void await side.gone(), async ({ outbound, clock, vendor }) => {
    const failing = failureOf(outbound.send(callWith()));
    await until(() => vendor.connections === 1);
    clock.advance(FIRST_BYTE_MS - 1);
    assertEquals(vendor.connections, 1);
    clock.advance(1 + TICK_MS);
    const failure = await failing;
    assertEquals([failure.kind, failure.facts.accepted], ["timeout", "unknown"]);
  });
});

Deno.test("outbound times out if a stream is silent during a read, and not for a slow reader", async () => {
  let side: VendorConnection | null = null;
  await onStage(async (one) => {
    side = one;
    await one.request();
    await one.say(`${STREAM_HEAD}data: 1\n\n`);
    await one.gone();
  }, async ({ outbound, clock }) => {
    const response = await outbound.send(callWith());
    assertEquals(textOf(await response.read()), "data: 1\n\n");
    for (let minute = 0; minute < 5; minute++) clock.advance(60_000);
    await side!.say("data: 2\n\n");
    assertEquals(textOf(await response.read()), "data: 2\n\n");
    let isOver = false;
    const failing = failureOf(response.read()).finally(() => isOver = true);
    clock.advance(IDLE_MS - 1);
    await new Promise((resolve) => setTimeout(resolve, 2));
    assertEquals(isOver, false);
    clock.advance(1 + TICK_MS);
    assertEquals((await failing).kind, "timeout");
  });
});

Deno.test("outbound requests the caller's signal only for calls that last", async () => {
  let requestedPaths = 0;
  const callerSignal = () => {
    requestedPaths++;
    return new AbortController().signal;
  };
  await onStage(always(answer(200, "{}")), async ({ outbound, clock }) => {
    const response = await outbound.send(callWith({ callerSignal }));
    clock.advance(249);
    await response.readAll(10);
    assertEquals(requestedPaths, 0);
  });
});

Deno.test("outbound cancels the request if the caller disconnects before the response head", async () => {
  const caller = new AbortController();
  let vendorSawEnd = false;
  await onStage(async (side) => {
    await side.request();
    await side.gone();
    vendorSawEnd = true;
  }, async ({ outbound, clock, vendor }) => {
    const failing = failureOf(outbound.send(callWith({ callerSignal: () => caller.signal })));
    await until(() => vendor.seen.length === 1);
    clock.advance(PATIENCE_MS);
    caller.abort();
    const failure = await failing;
    assertEquals([failure.kind, failure.isRetryable, failure.isProvidersFault], ["cancelled", false, false]);
    await until(() => vendorSawEnd);
  });
});

Deno.test("outbound detects at its first check that the caller has disconnected", async () => {
  await onStage(async (side) => void await side.gone(), async ({ outbound, clock, vendor }) => {
    const failing = failureOf(outbound.send(callWith({ callerSignal: () => AbortSignal.abort() })));
    await until(() => vendor.connections === 1);
    clock.advance(PATIENCE_MS);
    assertEquals((await failing).kind, "cancelled");
  });
});

Deno.test("outbound cancels a stream if the caller disconnects", async () => {
  const caller = new AbortController();
  await onStage(async (side) => {
    await side.request();
    await side.say(`${STREAM_HEAD}data: 1\n\n`);
    await side.gone();
  }, async ({ outbound, clock }) => {
    const response = await outbound.send(callWith({ callerSignal: () => caller.signal }));
    await response.read();
    const failing = failureOf(response.read());
    clock.advance(PATIENCE_MS);
    caller.abort();
    assertEquals((await failing).kind, "cancelled");
  });
});

Deno.test("outbound distinguishes an unreachable vendor, a closed connection and a server without HTTP", async () => {
  const nobody = startScriptedUpstream(async () => {});
  await nobody.stop();
  await onStage(always(""), async ({ clock }) => {
    const baseUrl = new URL(nobody.baseUrl);
    const redact = createRedactor([]);
    const options = {
      provider: "acme",
      baseUrl,
      origin: originOf(baseUrl),
      headers: {},
      idleMs: 1,
      firstByteMs: 1_000,
    };
    const outbound = createOutbound({ ...options, client: createHttpClient({ clock }), clock, redact });
    const failure = await failureOf(outbound.send(callWith()));
    assertEquals([failure.kind, failure.facts.accepted], ["unreachable", "no"]);
  });
  await onStage(async (side) => void await side.request(), async ({ outbound }) => {
    const failure = await failureOf(outbound.send(callWith()));
    assertEquals([failure.kind, failure.facts.accepted], ["unreachable", "unknown"]);
  });
  await onStage(always("220 mail.example ESMTP\r\n\r\n"), async ({ outbound }) => {
    assertEquals((await failureOf(outbound.send(callWith()))).kind, "broken");
  });
});

Deno.test("outbound reports a truncated body and a body above the maximum size", async () => {
  await onStage(async (side) => {
    await side.request();
    await side.say("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345");
  }, async ({ outbound }) => {
    const response = await outbound.send(callWith());
    assertEquals((await failureOf(response.readAll(100))).kind, "unreachable");
  });
  await onStage(always(answer(200, "x".repeat(101))), async ({ outbound }) => {
    const response = await outbound.send(callWith());
    assertEquals((await failureOf(response.readAll(100))).kind, "broken");
  });
});

Deno.test("outbound's response can be cancelled at any time, even twice, and ends then", async () => {
  await onStage(async (side) => {
    await side.request();
    await side.say(STREAM_HEAD);
    await side.gone();
  }, async ({ outbound }) => {
    const response = await outbound.send(callWith());
    const failing = failureOf(response.read());
    response.cancel();
    response.cancel();
    assertEquals((await failing).kind, "cancelled");
  });
});

Deno.test("outbound blames the connection for a closed port and a vendor without TLS, but not after a request was sent", async () => {
  const plain = startScriptedUpstream(async (side) => {
    await side.say("HTTP/1.1 400 Bad Request\r\n\r\n");
    await side.gone();
  });
  const silent = startScriptedUpstream((side) => side.gone());
  const closed = startScriptedUpstream(() => Promise.resolve());
  await closed.stop();
  const client = createHttpClient({ clock: systemClock });
  const addresses = [
    `http://127.0.0.1:${closed.port}`,
    ...[plain, silent].map(({ port }) => `https://127.0.0.1:${port}`),
  ];
  for (const address of addresses) {
    const baseUrl = new URL(address);
    const spans = { idleMs: IDLE_MS, firstByteMs: FIRST_BYTE_MS };
    const outbound = createOutbound({
      provider: "acme",
      baseUrl,
      origin: originOf(baseUrl),
      headers: {},
      ...spans,
      client,
      clock: systemClock,
      redact: createRedactor([]),
    });
    assertEquals((await failureOf(outbound.send(callWith({ firstByteMs: 50 })))).blame, "connection", address);
  }
  await onStage(async (side) => void await side.request(), async ({ outbound }) => {
    assertEquals((await failureOf(outbound.send(callWith()))).blame, "service", "a reset after the request");
  });
  client.close();
  await plain.stop();
  await silent.stop();
});

Deno.test("outbound blames nothing for an unreadable 2xx, whether bytes or JSON are invalid", async () => {
  const broken = [answer(200, "{", {}), answer(200, '{"n":1}', { "content-encoding": "gzip" })];
  for (const bytes of broken) {
    await onStage(always(bytes), async ({ outbound }) => {
      const failure = await failureOf(outbound.json("GET", "/models", null, (read) => read));
      assertEquals([failure.kind, failure.blame], ["broken", "none"]);
    });
  }
  await onStage(always(answer(200, "x".repeat(100))), async ({ outbound }) => {
    const response = await outbound.send(callWith());
    const failure = await failureOf(response.readAll(10));
    assertEquals([failure.kind, failure.blame], ["broken", "none"]);
  });
});

Deno.test("outbound uses another host of its vendor only with https and within the vendor's own domain", () => {
  const client = createHttpClient({ clock: new ManualClock() });
  const at = (address: string) => {
    const baseUrl = new URL(address);
    return createOutbound({
      provider: "acme",
      baseUrl,
      origin: originOf(baseUrl),
      headers: { authorization: `Bearer ${KEY}` },
      idleMs: IDLE_MS,
      firstByteMs: FIRST_BYTE_MS,
      client,
      clock: systemClock,
      redact: createRedactor([KEY]),
    });
  };
  const sibling = (address: string, own = "https://api.vendor.example/v1") =>
    at(own).siblingHost(address, ["other.example", "vendor.example"])?.path ?? null;
  assertEquals(sibling("https://api.eu.vendor.example/v2/jobs?id=1"), "/v2/jobs?id=1");
  for (
    const address of [
      "http://api.eu.vendor.example/v2/jobs",
      "https://api.eu.vendor.example:8443/v2/jobs",
      "https://user@api.eu.vendor.example/v2/jobs",
      "https://vendor.example.evil.example/v2/jobs",
      "https://evilvendor.example/v2/jobs",
      "https://api.other.example/v2/jobs",
      "https://127.0.0.1/v2/jobs",
      "not an address",
    ]
  ) assertEquals(sibling(address), null, address);
  assertEquals(sibling("https://api.eu.vendor.example/v2/jobs", "https://proxy.example/v1"), null);
  const far = at("https://api.vendor.example/v1").siblingHost("https://api.eu.vendor.example/v2/jobs", [
    "vendor.example",
  ]);
  assertEquals(far!.outbound.pathOf("https://api.eu.vendor.example/v3/x"), "/v3/x");
  client.close();
});

Deno.test("an error of the gateway itself is internal_error, not a failure of the vendor, before and within a response", async () => {
  const own = new TypeError("network.kind is not a function");
  const respond = (readNext: HttpResponse["readNext"]): HttpResponse => ({
    status: 200,
    head: new ResponseHead("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"),
    read: () => Promise.reject(own),
    readNext,
    takeArrived() {
      throw own;
    },
    cancel() {},
    closeAfter() {},
  });
  const outboundOver = (send: HttpClient["send"]) => {
    const baseUrl = new URL("http://127.0.0.1:1/v1");
    return createOutbound({
      provider: "acme",
      baseUrl,
      origin: originOf(baseUrl),
      headers: {},
      idleMs: IDLE_MS,
      firstByteMs: FIRST_BYTE_MS,
      client: { send, close() {} },
      clock: new ManualClock(Date.UTC(2026, 10, 21, 9, 0, 0)),
      redact: createRedactor([]),
    });
  };
  const failsLate = outboundOver(() => Promise.resolve(respond((callbacks) => callbacks.onError(own))));
  const attempts = [
    () => outboundOver(() => Promise.reject(own)).send(callWith()),
    () => failsLate.send(callWith()).then((response) => response.read()),
    () => failsLate.send(callWith()).then((response) => response.readAll(100)),
    () => failsLate.send(callWith()).then((response) => response.takeArrived()),
    () => failsLate.json("GET", "/", null, (body) => body),
  ];
  for (const attempt of attempts) {
    const error = await assertRejects(attempt, GatewayError);
    assertEquals([error.code, error.status, error.cause], ["internal_error", 500, own]);
  }
});
