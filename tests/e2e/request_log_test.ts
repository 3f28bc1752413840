import { assert, assertEquals, assertMatch } from "@std/assert";
import { explain } from "../../src/observers/request_log/printed/explain.ts";
import { type PrintedRequest, requestLine } from "../../src/observers/request_log/printed/request_line.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { startTestGateway, type TestGateway, textModel } from "../support/gateway.ts";
import { always, chatReply, startScriptedUpstream } from "../support/scripted_upstream.ts";

type Json = Record<string, unknown>;

async function get(
  gateway: TestGateway,
  path: string,
  key = gateway.adminKey,
): Promise<{ status: number; body: Json }> {
  const response = await fetch(gateway.address + path, { headers: { authorization: `Bearer ${key}` } });
  return { status: response.status, body: await response.json() };
}

async function chat(gateway: TestGateway, body: Json, key = gateway.key): Promise<string> {
  const response = await fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "a secret prompt" }], ...body }),
  });
  await response.text();
  return response.headers.get("x-service-request-id") ?? "";
}

async function withGateway(config: Json, test: (gateway: TestGateway) => Promise<void>): Promise<void> {
  const gateway = await startTestGateway({ config });
  try {
    await test(gateway);
  } finally {
    await gateway.stop();
  }
}

Deno.test("operators find every request with its facts, failures included, and no prompt", async () => {
  await withGateway({}, async (gateway) => {
    const good = await chat(gateway, { model: "sandbox/chat-1", logit_bias: {} });
    const unknown = await chat(gateway, { model: "sandbox/none" });
    const invalid = await chat(gateway, { model: "sandbox/chat-1", messages: "a secret prompt" });
    const refused = await chat(gateway, { model: "sandbox/chat-1" }, newApiKey());
    const { body } = await get(gateway, "/admin/v1/requests");
    const data = body.data as Json[];
    assertEquals(body.next, null);
    assertEquals(data.map(({ id, status, account }) => [id, status, account]), [
      [refused, 401, null],
      [invalid, 400, "demo"],
      [unknown, 404, "demo"],
      [good, 200, "demo"],
    ]);
    const { body: row } = await get(gateway, `/admin/v1/requests/${good}`);
    assertEquals([row.model, row.served_model, row.provider, row.endpoint, row.end, row.protocol], [
      "sandbox/chat-1",
      "sandbox/chat-1",
      "sandbox-openai",
      "/v1/chat/completions",
      "completed",
      "default",
    ]);
    const errors = await get(gateway, "/admin/v1/requests?status=error&account=demo&order=asc");
    assertEquals((errors.body.data as Json[]).map(({ id }) => id), [unknown, invalid]);
    assertEquals(JSON.stringify(data).includes("secret prompt"), false);
    assertEquals(JSON.stringify(data).includes(gateway.key), false);
    assertMatch(requestLine(data[2] as unknown as PrintedRequest), /404 {2}demo {2}sandbox\/none .*model_not_found: /);
  });
});

Deno.test("an account sees its own requests and no others", async () => {
  const [mine, theirs] = [newApiKey(), newApiKey()];
  const accounts = [{ id: "a", balance: "1", keys: [mine] }, { id: "b", balance: "1", keys: [theirs] }];
  await withGateway({ accounts }, async (gateway) => {
    const own = await chat(gateway, { model: "sandbox/chat-1" }, mine);
    const other = await chat(gateway, { model: "sandbox/chat-1" }, theirs);
    const list = await get(gateway, "/v1/requests?model=sandbox/chat-1", mine);
    const [row] = list.body.data as Json[];
    assertEquals((list.body.data as Json[]).map(({ id }) => id), [own]);
    assertEquals(["account", "routes", "position"].filter((name) => row !== undefined && name in row), []);
    assertEquals((await get(gateway, `/v1/requests/${own}`, mine)).body, row);
    const foreign = await get(gateway, `/v1/requests/${other}`, mine);
    const missing = await get(gateway, "/v1/requests/req_0", mine);
    assertEquals([foreign.status, missing.status], [404, 404]);
    assertEquals((await get(gateway, "/v1/requests", newApiKey())).status, 401);
    assertEquals((await get(gateway, "/v1/requests?account=b", mine)).status, 400);
  });
});

Deno.test("unknown and invalid parameters are 400 and name what was expected", async () => {
  await withGateway({}, async (gateway) => {
    for (
      const [query, message] of [
        ["modle=x", 'no such parameter, did you mean "model"?'],
        ["status=abc", 'expected a status such as 404, a class such as 5xx, or "error"'],
        ["from=yesterday", "expected Unix seconds or a date such as 2026-01-31 or 2026-01-31T09:30Z"],
        ["limit=0", "expected a whole number from 1 to 100"],
        ["model=a&model=b", "expected it once"],
        ["q=", "expected text of 1 to 200 characters"],
        ["order=up", "expected asc or desc"],
        ["end=soon", "expected completed, cut, left"],
        ["min_duration_ms=0.5", "expected a whole number from 0 to 1000000000000"],
        ["max_cost=x", "expected US dollars such as 0.01"],
        ["refusal_limit=rps", "expected rpm, tpm, concurrency, budget"],
        ["refusal_holder=me", "expected key, account"],
        ["protocol=chat", "expected default, message, content, admin"],
        ["attempt_status=6xx", 'expected a status such as 404, a class such as 5xx, or "error"'],
        ["is_estimated=1", "expected true, false"],
        ["min_cost=-1", "expected US dollars such as 0.01"],
      ] as const
    ) {
      const { status, body } = await get(gateway, `/admin/v1/requests?${query}`);
      assertEquals(status, 400);
      assertEquals(JSON.stringify(body).includes(JSON.stringify(message).slice(1, -1)), true, JSON.stringify(body));
    }
  });
});

Deno.test("without a log the endpoints answer 404", async () => {
  await withGateway({ request_log: false }, async (gateway) => {
    await chat(gateway, { model: "sandbox/chat-1" });
    assertEquals((await get(gateway, "/admin/v1/requests")).status, 404);
    assertEquals((await get(gateway, "/v1/requests", gateway.key)).status, 404);
  });
});

Deno.test("explain tells the choice of providers, the attempts and the price", async () => {
  const body = '{"error":{"message":"busy"}}';
  const head = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nx-request-id: vendor-1\r\n";
  const failing = startScriptedUpstream(always(`${head}content-length: ${body.length}\r\n\r\n${body}`));
  const good = startScriptedUpstream(always(chatReply("hello", { prompt: 1_000, completion: 500 })));
  const vendor = (baseUrl: string) => ({ kind: "openai", base_url: baseUrl, api_key: "key-of-vendor", speaks: "chat" });
  const gateway = await startTestGateway({
    random: () => 0,
    config: {
      providers: { broken: vendor(failing.baseUrl), good: vendor(good.baseUrl) },
      models: [textModel("acme/m", ["broken", "good"])],
      aliases: { fast: "acme/m" },
    },
  });
  try {
    const id = await chat(gateway, { model: "fast" });
    const { body: row } = await get(gateway, `/admin/v1/requests/${id}`);
    const lines = explain(row as unknown as PrintedRequest).map((line) => line.replace(/\d+ ms/g, "1 ms"));
    assertMatch(lines[0] ?? "", /^req_\w+: POST \/v1\/chat\/completions at .*, by account demo with key \w+, from 127/);
    assertEquals(lines.slice(1), [
      'It asked for the model "fast". In the catalog that is "acme/m".',
      '"acme/m" has these providers. Those that could be tried were ordered at random by weight:',
      "  broken could be tried (1 of 2).",
      "  good could be tried (1 of 2).",
      "It was admitted, and reserved up to 0.03281425 USD and 16421 tokens.",
      'Attempt 1: broken, with its model "m", failed with status 503 after 1 ms: unavailable: Provider "broken" responded with status 503. ' +
      "The vendor's request id is vendor-1.",
      'Attempt 2: good, with its model "m", responded after 1 ms.',
      "The caller got status 200 after 1 ms; the request ended after 1 ms. The reply was complete.",
      "It cost 0.002 USD.",
      "  prompt: 1000 × 0.000001 USD = 0.001 USD",
      "  completion: 500 × 0.000002 USD = 0.001 USD",
    ]);
  } finally {
    await gateway.stop();
    await failing.stop();
    await good.stop();
  }
});

Deno.test("explain tells which limit refused a request and when it resets", async () => {
  const now = Date.parse("2026-11-23T10:00:00.500Z");
  const keys = { rpm: newApiKey(), budget: newApiKey() };
  const good = startScriptedUpstream(always(chatReply("hello", { prompt: 1_000, completion: 500 })));
  const limits = { rpm: { rpm: 1 }, budget: { budget: { amount: "0.000001", per: "day" } } };
  const gateway = await startTestGateway({
    clock: { ...systemClock, now: () => now, monotonicMs: () => performance.now() },
    config: {
      accounts: Object.entries(keys).map(([id, key]) => ({
        id,
        balance: "25.00",
        keys: [{ key, ...limits[id as keyof typeof limits] }],
      })),
      providers: { good: { kind: "openai", base_url: good.baseUrl, api_key: "key-of-vendor", speaks: "chat" } },
      models: [textModel("acme/m", ["good"])],
    },
  });
  try {
    const refusalOf = async (key: string) => {
      let body: Json = {};
      for (let time = 0; time < 3 && body.refusal == null; time++) {
        const id = await chat(gateway, { model: "acme/m", max_tokens: 500 }, key);
        ({ body } = await get(gateway, `/admin/v1/requests/${id}`));
      }
      const lines = explain(body as unknown as PrintedRequest);
      return { refusal: body.refusal, line: lines.find((line) => line.startsWith("It was refused")) ?? lines.join() };
    };
    const { refusal: rate, line } = await refusalOf(keys.rpm);
    const { resets_at: resetsAt, ...limit } = rate as { resets_at: number };
    assertEquals(limit as Json, { holder: "key", limit: "rpm", value: "1" });
    assert(resetsAt > now / 1_000 && resetsAt <= now / 1_000 + 60, String(resetsAt));
    assertEquals(
      line,
      "It was refused by the limit rpm of its key, 1. A request of this size fits from " +
        `${new Date(resetsAt * 1_000).toISOString()} on.`,
    );
    assertEquals(await refusalOf(keys.budget), {
      refusal: {
        holder: "key",
        limit: "budget",
        value: "0.0000010000 USD a day",
        resets_at: Date.parse("2026-11-24") / 1_000,
      },
      line: "It was refused by the budget of its key, 0.0000010000 USD a day. It resets at 2026-11-24T00:00:00.000Z.",
    });
  } finally {
    await gateway.stop();
    await good.stop();
  }
});

Deno.test("the record of a picture has the vendor's request id and status", async () => {
  const gateway = await startTestGateway({
    config: {
      models: [{
        id: "sandbox/image-1",
        image: {},
        pricing: { per_image: "0.04" },
        serves: [{ provider: "sandbox-openai", model: "gpt-image-1.5" }],
      }],
    },
  });
  try {
    for (const stream of [false, true]) {
      const response = await fetch(`${gateway.address}/v1/images/generations`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "sandbox/image-1", prompt: "a red fox", quality: "low", stream }),
      });
      await response.text();
      const id = response.headers.get("x-service-request-id");
      const { body } = await get(gateway, `/admin/v1/requests/${id}`);
      const [attempt] = body.attempts as Json[];
      assertEquals(attempt?.status, 200);
      assertMatch(String(attempt?.vendor_request_id), /^req/);
    }
  } finally {
    await gateway.stop();
  }
});

Deno.test("a stream that its caller left has a row with the caller's address", async () => {
  await withGateway({}, async (gateway) => {
    const controller = new AbortController();
    const response = await fetch(`${gateway.address}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "sandbox/chat-1",
        stream: true,
        messages: [{ role: "user", content: "[[pause 600000]] one two three four" }],
      }),
      signal: controller.signal,
    });
    const reader = response.body!.getReader();
    await reader.read();
    controller.abort();
    await reader.cancel().catch(() => {});
    let rows: Json[] = [];
    while (rows.length === 0) rows = (await get(gateway, "/admin/v1/requests")).body.data as Json[];
    assertEquals([rows[0]?.end, rows[0]?.client_address], ["left", "127.0.0.1"]);
  });
});

for (const isolates of [1, 2]) {
  Deno.test(`requests of one session are found by it, in each protocol, with ${isolates} threads`, async () => {
    const gateway = await startTestGateway({ isolates });
    const send = async (path: string, body: Json, headers: Record<string, string> = {}) => {
      const response = await fetch(gateway.address + path, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
      assertEquals(response.status, 200, await response.text());
      return response.headers.get("x-service-request-id") ?? "";
    };
    const model = "sandbox/any-1";
    const messages = [{ role: "user", content: "Hi" }];
    const session = "57a121ec-f78c-48c3-a745-e3036a3ecc33";
    const claude = { metadata: { user_id: JSON.stringify({ device_id: "d", session_id: session }) } };
    const ids = [
      await send("/v1/chat/completions", { model, messages }, { "session-id": session }),
      await send("/v1/responses", { model, input: "x".repeat(600_000), user: session }),
      await send("/msgcompat/v1/messages", { model, messages, max_tokens: 9, ...claude }, {
        "anthropic-version": "2023-06-01",
      }),
      await send(
        "/gencompat/v1beta/models/sandbox/any-1:generateContent",
        { contents: [{ parts: [{ text: "Hi" }] }] },
        {
          "x-claude-code-session-id": session,
        },
      ),
    ];
    await send("/v1/chat/completions", { model, messages, user: "customer-7" });
    await send("/v1/chat/completions", { model, messages });
    const found = async (path: string, key: string) => {
      let rows: Json[] = [];
      for (const end = Date.now() + 60_000; rows.length < ids.length && Date.now() < end;) {
        rows = (await get(gateway, path, key)).body.data as Json[];
      }
      return rows;
    };
    const rows = await found(`/admin/v1/requests?session=${session}`, gateway.adminKey);
    assertEquals(new Set(rows.map(({ id }) => id)), new Set(ids));
    assertEquals(new Set(rows.map((row) => row.session)), new Set([session]));
    assertEquals((await found(`/v1/requests?session=${session}`, gateway.key)).length, ids.length);
    await gateway.stop();
  });
}
