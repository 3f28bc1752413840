import { assert, assertEquals } from "@std/assert";
import { eventually } from "../support/account_money.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { ALL_MODES, startVideoGateway } from "../support/video_gateway.ts";

/** A vendor that records the key of each request, and answers with a status that the test sets for a key. */
function startKeyedVendor() {
  const keys: string[] = [];
  const statuses = new Map<string, number>();
  /** Keys that may list models and not use them. */
  const forbidden = new Set<string>();
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const key = (request.headers.get("authorization") ?? "").replace("Bearer ", "");
    const status = statuses.get(key) ?? 200;
    if (request.method === "POST") keys.push(key);
    if (request.method === "POST" && forbidden.has(key)) {
      return Response.json({ error: { message: "No access to this model", type: "x", code: null } }, { status: 403 });
    }
    if (status !== 200) {
      const headers = { ...status === 429 && { "retry-after": "60" } };
      return Response.json({ error: { message: "No", type: "x", code: null, param: null } }, { status, headers });
    }
    if (request.method === "GET") return Response.json({ object: "list", data: [] });
    const { model } = await request.json();
    if (request.url.endsWith("/responses")) {
      const content = [{ type: "output_text", text: key, annotations: [] }];
      const output = [{ type: "message", id: `msg_${keys.length}`, role: "assistant", status: "completed", content }];
      const usage = { input_tokens: 3, output_tokens: 1, total_tokens: 4 };
      return Response.json({
        id: `resp_${keys.length}`,
        object: "response",
        status: "completed",
        model,
        output,
        usage,
      });
    }
    const choices = [{ index: 0, message: { role: "assistant", content: key }, finish_reason: "stop" }];
    const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
    return Response.json({ id: "c", object: "chat.completion", created: 1, model, choices, usage });
  });
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    keys,
    statuses,
    forbidden,
    stop: () => server.shutdown(),
  };
}

interface Stage {
  readonly credentials: readonly Record<string, unknown>[];
  readonly random?: () => number;
  readonly speaks?: "chat" | "responses";
  readonly inThreads?: boolean;
}

async function startStage({ credentials, random, speaks = "chat", inThreads = false }: Stage) {
  const vendors = { many: startKeyedVendor(), other: startKeyedVendor() };
  const gateway = await startTestGateway({
    ...(random && { random }),
    config: {
      providers: {
        many: { kind: "openai", base_url: vendors.many.baseUrl, speaks, credentials },
        other: { kind: "openai", base_url: vendors.other.baseUrl, speaks, api_key: "other-key" },
      },
      models: [{
        ...textModel("acme/m", []),
        serves: [{ provider: "many", weight: 1 }, { provider: "other", weight: 0 }],
      }],
      ...(inThreads && { limits: { large_body: 0 } }),
    },
  });
  const { address, key, adminKey } = gateway;
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${address}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, json: await response.json() };
  };
  return {
    gateway,
    vendors,
    post,
    /** Sends a chat request and returns its status and the key that served it. */
    async ask() {
      const { status, json } = await post("/v1/chat/completions", {
        model: "acme/m",
        messages: [{ role: "user", content: "x" }],
      });
      return [status, json.choices?.[0].message.content];
    },
    async listed() {
      const headers = { authorization: `Bearer ${adminKey}` };
      const text = await (await fetch(`${address}/admin/v1/providers`, { headers })).text();
      assert(!text.includes("key-"), "no secret is shown");
      return JSON.parse(text).data.find((each: { name: string }) => each.name === "many");
    },
    async stop() {
      await gateway.stop();
      await Promise.all(Object.values(vendors).map((vendor) => vendor.stop()));
    },
  };
}

const TWO = [{ name: "a", api_key: "key-a", weight: 3 }, { name: "b", api_key: "key-b", weight: 1 }];

Deno.test("attempts are shared among a provider's credentials by weight", async () => {
  const stage = await startStage({ credentials: TWO });
  for (let count = 0; count < 60; count++) assertEquals((await stage.ask())[0], 200);
  const { keys } = stage.vendors.many;
  const ofA = keys.filter((key) => key === "key-a").length;
  // 45 are expected; each bound is missed once in more than a million runs.
  assert(ofA > 25 && ofA < 60, `${ofA} of 60`);
  assertEquals(stage.vendors.other.keys, []);
  await stage.stop();
});

Deno.test("a request in a thread uses the provider's next credential too", async () => {
  const stage = await startStage({ credentials: [{ ...TWO[0] }, { ...TWO[1], weight: 0 }], inThreads: true });
  stage.vendors.many.statuses.set("key-a", 503);
  assertEquals(await stage.ask(), [200, "key-b"], stage.gateway.logLines.join(""));
  assertEquals(stage.vendors.many.keys, ["key-a", "key-b"]);
  await stage.stop();
});

Deno.test("after a rejected key, the provider's next credential serves the request, and then all others", async () => {
  const stage = await startStage({ credentials: TWO, random: () => 0 });
  stage.vendors.many.statuses.set("key-a", 401);
  assertEquals(await stage.ask(), [200, "key-b"]);
  assertEquals(stage.vendors.many.keys, ["key-a", "key-b"]);
  await eventually(async () => (await stage.listed()).credentials[0].state === "misconfigured");
  stage.vendors.many.keys.length = 0;
  for (let count = 0; count < 3; count++) assertEquals(await stage.ask(), [200, "key-b"]);
  assertEquals(stage.vendors.many.keys, ["key-b", "key-b", "key-b"]);
  const { state, misconfigured_since, credentials } = await stage.listed();
  assertEquals([state, misconfigured_since], ["degraded", null]);
  assertEquals(
    credentials.map(({ name, state, succeeded, failed }: Record<string, unknown>) => [name, state, succeeded, failed]),
    [["a", "misconfigured", 0, 1], ["b", "ready", 4, 0]],
  );
  await stage.stop();
});

Deno.test("after a 403 that the vendor also answers to a probe, the credential rests as after a 401", async () => {
  const stage = await startStage({ credentials: TWO, random: () => 0 });
  stage.vendors.many.statuses.set("key-a", 403);
  for (let count = 0; count < 2; count++) {
    assertEquals(await stage.ask(), [200, "key-b"]);
    assertEquals((await stage.listed()).credentials[0].state, "ready", "a single 403 proves nothing");
  }
  await eventually(async () => {
    assertEquals(await stage.ask(), [200, "key-b"]);
    return (await stage.listed()).credentials[0].state === "misconfigured";
  });
  stage.vendors.many.keys.length = 0;
  assertEquals(await stage.ask(), [200, "key-b"]);
  assertEquals(stage.vendors.many.keys, ["key-b"]);
  await stage.stop();
});

Deno.test("a credential with 403s for a model alone stays in use", async () => {
  const stage = await startStage({ credentials: TWO, random: () => 0 });
  stage.vendors.many.forbidden.add("key-a");
  for (let count = 0; count < 8; count++) assertEquals(await stage.ask(), [200, "key-b"]);
  assertEquals((await stage.listed()).credentials[0].state, "ready");
  await stage.stop();
});

Deno.test("a credential whose circuit is open rests, while the others serve", async () => {
  const stage = await startStage({ credentials: TWO, random: () => 0 });
  stage.vendors.many.statuses.set("key-a", 429);
  for (let count = 0; count < 5; count++) assertEquals(await stage.ask(), [200, "key-b"]);
  stage.vendors.many.keys.length = 0;
  assertEquals(await stage.ask(), [200, "key-b"]);
  assertEquals(stage.vendors.many.keys, ["key-b"]);
  const { state, credentials: [a, b] } = await stage.listed();
  assertEquals([state, a.circuit, b.circuit], ["ready", "open", "closed"]);
  await stage.stop();
});

Deno.test("another provider is tried only after all credentials of the first", async () => {
  const stage = await startStage({ credentials: TWO, random: () => 0 });
  for (const key of ["key-a", "key-b"]) stage.vendors.many.statuses.set(key, 503);
  assertEquals(await stage.ask(), [200, "other-key"]);
  assertEquals(stage.vendors.many.keys, ["key-a", "key-b"]);
  await stage.stop();
});

Deno.test("a credential without a free slot leaves the request to the next one at once", async () => {
  const stage = await startStage({
    credentials: [{ name: "a", api_key: "key-a", rpm: 1 }, { name: "b", api_key: "key-b", rpm: 1 }],
    random: () => 0,
  });
  const served = [];
  for (let count = 0; count < 3; count++) served.push((await stage.ask())[1]);
  assertEquals(served, ["key-a", "key-b", "other-key"]);
  const { limits, credentials: [a] } = await stage.listed();
  assertEquals([limits, a.limits.rpm], [null, 1]);
  await stage.stop();
});

Deno.test("a stored response is continued with the credential that made it, and callers see the provider's name", async () => {
  let point = 0.9;
  const stage = await startStage({ credentials: TWO, random: () => point, speaks: "responses" });
  const first = await stage.post("/v1/responses", { model: "acme/m", input: "x" });
  assertEquals(stage.vendors.many.keys, ["key-b"]);
  assertEquals(first.headers.get("x-service-provider"), "many");
  point = 0;
  for (let count = 0; count < 3; count++) {
    const next = await stage.post("/v1/responses", {
      model: "acme/m",
      input: "y",
      previous_response_id: first.json.id,
    });
    assertEquals([next.status, next.json.output[0].content[0].text], [200, "key-b"]);
  }
  const pinned = await stage.post("/v1/responses", { model: "acme/m", input: "x" }, {
    "x-service-provider-type": "many#b",
  });
  assertEquals([pinned.status, pinned.json.error.code], [400, "invalid_provider_type"]);
  await stage.stop();
});

Deno.test("a video task is polled and cancelled with the credential that submitted it", async () => {
  const keys: string[] = [];
  const vendor = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    keys.push(`${request.method} ${request.headers.get("authorization")}`);
    if (request.method === "POST") return Response.json({ id: "cgt-1" });
    if (request.method === "DELETE") return Response.json({});
    return Response.json({ id: "cgt-1", model: "m", status: "running" });
  });
  const credentials = [{ name: "a", api_key: "key-a", weight: 0 }, { name: "b", api_key: "key-b" }];
  const gateway = await startVideoGateway({
    config: {
      providers: { many: { kind: "ark", base_url: `http://127.0.0.1:${vendor.addr.port}/api/v3`, credentials } },
      models: [{
        id: "acme/v",
        video: { modes: ALL_MODES, duration: { min: 2, max: 12, default: 5 }, price_per_second: { default: "0.01" } },
        serves: [{ provider: "many" }],
      }],
    },
  });
  const id = await gateway.create({ model: "acme/v", prompt: "A lighthouse" });
  const task = await eventually(async () => {
    const { json } = await gateway.call("GET", `/v1/videos/${id}`);
    return json.provider ? json : null;
  });
  assertEquals(task.provider, "many");
  await eventually(() => keys.some((each) => each.startsWith("GET")));
  await gateway.call("DELETE", `/v1/videos/${id}`);
  assertEquals(new Set(keys.map((each) => each.split(" ").slice(1).join(" "))), new Set(["Bearer key-b"]));
  await gateway.stop();
  await vendor.shutdown();
});
