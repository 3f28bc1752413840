import { assert, assertEquals, assertMatch } from "@std/assert";
import { startTestGateway, type TestGateway, textModel } from "../support/gateway.ts";
import { itemAt } from "../support/items.ts";
import { type CollectedSpan, type Collector, startCollector } from "./collector.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const CALLER = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: "congo=t61", baggage: "user=secret-of-caller" };
const PROMPT = "the prompt that nobody may read";
const REPLY = {
  id: "c1",
  choices: [{ index: 0, message: { role: "assistant", content: "the answer" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};
const STREAM = 'data: {"id":"c1","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n' +
  'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}\n\ndata: [DONE]\n\n';

/** A vendor that records header fields. Its path `/down` fails. */
function startVendor() {
  const seen: Headers[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    seen.push(request.headers);
    const { stream } = await request.json();
    if (new URL(request.url).pathname.startsWith("/down/")) {
      return Response.json({ error: { message: `no: ${PROMPT}` } }, {
        status: 503,
        headers: { "x-request-id": "v-1" },
      });
    }
    return stream ? new Response(STREAM, { headers: { "content-type": "text/event-stream" } }) : Response.json(REPLY);
  });
  return { seen, address: `http://127.0.0.1:${server.addr.port}`, stop: () => server.shutdown() };
}

interface Stage {
  readonly gateway: TestGateway;
  readonly collector: Collector;
  /** The header fields that the vendor received. */
  readonly seen: readonly Headers[];
  ask(fields?: Record<string, unknown>, headers?: Record<string, string>): Promise<Response>;
  /** Stops the gateway, which exports all spans. */
  stop(): Promise<void>;
}

/** Runs a test with a vendor and a collector. */
async function withStage(
  tracing: Record<string, unknown> | null,
  config: Record<string, unknown>,
  run: (stage: Stage) => Promise<void>,
): Promise<void> {
  const vendor = startVendor();
  const collector = startCollector();
  const provider = (path: string) => ({
    kind: "openai",
    base_url: `${vendor.address}${path}`,
    api_key: "k",
    speaks: "chat",
    quirks: [],
  });
  const gateway = await startTestGateway({
    config: {
      providers: { good: provider("/v1"), bad: provider("/down/v1") },
      models: [textModel("a/good", ["good"]), { ...textModel("a/bad", ["bad"]), fallbacks: ["a/good"] }],
      ...tracing && { tracing: { endpoint: collector.endpoint, ...tracing } },
      ...config,
    },
  });
  let stopped: Promise<void> | null = null;
  const stage: Stage = {
    gateway,
    collector,
    seen: vendor.seen,
    async ask(fields = {}, headers = {}) {
      const response = await fetch(`${gateway.address}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json", ...headers },
        body: JSON.stringify({ model: "a/good", messages: [{ role: "user", content: PROMPT }], ...fields }),
      });
      await response.clone().text();
      return response;
    },
    stop: () => stopped ??= gateway.stop(),
  };
  try {
    await run(stage);
  } finally {
    await stage.stop();
    await collector.stop();
    await vendor.stop();
  }
}

/** The span of the request and those of its attempts, in order. */
function treeOf({ spans }: Collector): [server: CollectedSpan, ...attempts: CollectedSpan[]] {
  const server = spans.filter(({ kind }) => kind === 2);
  assertEquals(server.length, 1);
  return [itemAt(server, 0), ...spans.filter(({ kind }) => kind === 3)];
}

const IS_SERVED_IN = { "the main thread": {}, "a thread": { limits: { large_body: 0 } } };

for (const [where, config] of Object.entries(IS_SERVED_IN)) {
  Deno.test(`a request in ${where} continues the caller's trace up to the vendor`, async () => {
    await withStage({}, config, async ({ ask, seen, collector, stop, gateway }) => {
      await ask({}, CALLER);
      await stop();
      const [server, attempt] = treeOf(collector);
      assert(attempt);
      assertEquals([server.traceId, server.parentSpanId, server.traceState], [TRACE, SPAN, "congo=t61"]);
      assertEquals([attempt.traceId, attempt.parentSpanId], [TRACE, server.spanId]);
      const headers = itemAt(seen, 0);
      assertEquals(headers.get("traceparent"), `00-${TRACE}-${attempt.spanId}-01`);
      assertEquals(headers.get("tracestate"), "congo=t61");
      assertEquals(headers.get("baggage"), null);
      const line = gateway.logLines.map((each) => JSON.parse(each)).find(({ event }) => event === "request");
      assertEquals(line.traceId, TRACE);
    });
  });
}

Deno.test("spans have the names and attributes of the semantic conventions, and no texts", async () => {
  await withStage({ service_name: "gw", headers: { authorization: "Bearer token" } }, {}, async (stage) => {
    const { ask, collector, stop } = stage;
    const response = await ask();
    await stop();
    const [server, attempt] = treeOf(collector);
    assert(attempt);
    assertEquals(server.name, "POST /v1/chat/completions");
    assertEquals(server.parentSpanId, undefined);
    const { "switchyard.key_id": keyId, "switchyard.cost": cost, ...attributes } = server.attributes;
    assertMatch(String(keyId), /^key_/);
    assertEquals(cost, 7e-6);
    assertEquals(attributes, {
      "http.request.method": "POST",
      "http.response.status_code": 200,
      "http.route": "/v1/chat/completions",
      "url.path": "/v1/chat/completions",
      "url.scheme": "http",
      "switchyard.request_id": response.headers.get("x-service-request-id") ?? "",
      "switchyard.account_id": "demo",
      "switchyard.model": "a/good",
      "switchyard.provider": "good",
      "switchyard.end": "completed",
      "switchyard.tokens_estimated": false,
      "switchyard.attempts": 1,
    });
    assertEquals(attempt.name, "chat good");
    const { "server.port": port, ...client } = attempt.attributes;
    assertEquals(typeof port, "number");
    assertEquals(client, {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "good",
      "gen_ai.request.model": "good",
      "gen_ai.usage.input_tokens": 3,
      "gen_ai.usage.output_tokens": 2,
      "http.response.status_code": 200,
      "server.address": "127.0.0.1",
      "switchyard.provider": "good",
      "switchyard.cost": 7e-6,
    });
    for (const { startTimeUnixNano: start, endTimeUnixNano: end } of [server, attempt]) {
      assert(BigInt(start) <= BigInt(end) && /^\d{19}$/.test(start));
    }
    const [{ body, headers }] = collector.exports as [Collector["exports"][number]];
    assertEquals([headers.get("content-type"), headers.get("authorization")], ["application/json", "Bearer token"]);
    assertEquals(JSON.parse(body).resourceSpans[0].resource.attributes[0].value.stringValue, "gw");
    for (const text of [PROMPT, "the answer", stage.gateway.key]) assertEquals(body.includes(text), false);
  });
});

Deno.test("each attempt has a span of its own, which the vendor receives, and a failed one names its error", async () => {
  await withStage({}, {}, async ({ ask, seen, collector, stop }) => {
    await ask({ model: "a/bad", stream: true });
    await stop();
    const [server, failed, served] = treeOf(collector);
    assert(failed && served);
    assertEquals(
      seen.map((headers) => headers.get("traceparent")),
      [failed, served].map(({ spanId }) => `00-${server.traceId}-${spanId}-01`),
    );
    const { attributes } = failed;
    assertEquals(
      [attributes["error.type"], attributes["http.response.status_code"], attributes["switchyard.vendor_request_id"]],
      ["unavailable", 503, "v-1"],
    );
    assertEquals([failed.status, served.status, server.status], [{ code: 2 }, {}, {}]);
    assertEquals([served.events?.[0]?.name, served.attributes["gen_ai.usage.output_tokens"]], ["first_byte", 2]);
    assertEquals(served.endTimeUnixNano, server.endTimeUnixNano); // a stream lasts until the end
    assertEquals(collector.exports.some(({ body }) => body.includes(PROMPT)), false);
  });
});

Deno.test("a request that is not sampled has no spans, and the vendor learns that", async () => {
  await withStage({ ratio: 0 }, {}, async ({ ask, seen, collector, stop }) => {
    await ask();
    await ask({}, { traceparent: `00-${TRACE}-${SPAN}-00` });
    await ask({}, { traceparent: "00-malformed" });
    const flags = seen.map((headers) => headers.get("traceparent")?.slice(-2));
    assertEquals(flags, ["00", "00", "00"]);
    assertEquals(seen.map((headers) => headers.get("traceparent")?.includes(TRACE)), [false, true, false]);
    await ask({}, CALLER);
    await stop();
    assertEquals(collector.spans.map(({ traceId }) => traceId), [TRACE, TRACE]);
  });
});

Deno.test("errors, unknown paths and admin requests have a span, and monitoring has none", async () => {
  await withStage({}, {}, async ({ ask, gateway, collector, stop }) => {
    await ask({ model: "no/such" });
    for (const path of ["/healthz", "/readyz", "/metrics", "/no/such?secret=1", "/v1/models"]) {
      await (await fetch(gateway.address + path)).text();
    }
    await stop();
    assertEquals(collector.spans.map(({ name }) => name), ["POST /v1/chat/completions", "GET", "GET /v1/models"]);
    const [missing, unknown] = collector.spans;
    assertEquals(missing?.attributes["switchyard.error_code"], "model_not_found");
    assertEquals([missing?.status, missing?.attributes["error.type"]], [{}, undefined]);
    assertEquals(unknown?.attributes["url.path"], "/no/such");
  });
});

Deno.test("without tracing, nothing of the caller's trace reaches the vendor", async () => {
  await withStage(null, {}, async ({ ask, seen, collector, stop, gateway }) => {
    await ask({}, CALLER);
    await stop();
    for (const name of Object.keys(CALLER)) assertEquals(itemAt(seen, 0).get(name), null);
    assertEquals(collector.exports, []);
    assertEquals(gateway.logLines.some((line) => line.includes("traceId")), false);
  });
});

Deno.test("a collector that is down does not disturb requests, and its spans are counted as dropped", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  await withStage({ endpoint: `http://127.0.0.1:${port}/v1/traces` }, {}, async ({ ask, stop, gateway }) => {
    assertEquals((await ask()).status, 200);
    await stop();
    const line = gateway.logLines.map((each) => JSON.parse(each)).find(({ event }) => event === "spans_dropped");
    assertEquals([line.count, line.reason], [2, "Cannot connect"]);
  });
});
