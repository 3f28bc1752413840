import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { eventually } from "../support/account_money.ts";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { callerOf } from "../support/gateway_call.ts";
import { startVideoGateway } from "../support/video_gateway.ts";

/** A vendor that answers a request when it is let go. */
function heldVendor() {
  const held: (() => void)[] = [];
  let [open, maxOpen] = [0, 0];
  const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
  const chunk = (delta: unknown, more = {}) =>
    `data: ${
      JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [delta], ...more })
    }\n\n`;
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const { stream, messages } = await request.json();
    const name = messages[0].content;
    const letGo = new Promise<void>((resolve) => held.push(resolve));
    maxOpen = Math.max(maxOpen, ++open);
    if (!stream) {
      await letGo;
      open--;
      const choices = [{ index: 0, message: { role: "assistant", content: name }, finish_reason: "stop" }];
      return Response.json({ id: "c", object: "chat.completion", created: 1, model: "m", choices, usage });
    }
    const encoder = new TextEncoder();
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(encoder.encode(chunk({ index: 0, delta: { role: "assistant", content: name } })));
        await letGo;
        open--;
        const end = chunk({ index: 0, delta: {}, finish_reason: "stop" }, { usage });
        controller.enqueue(encoder.encode(`${end}data: [DONE]\n\n`));
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    held,
    maxOpen: () => maxOpen,
    letGo: () => held.shift()?.(),
    stop: () => server.shutdown(),
  };
}

interface Stage {
  readonly limits: Readonly<Record<string, number>>;
  /** Whether requests are answered in threads. */
  readonly inThreads?: boolean;
  readonly hasSecond?: boolean;
}

async function startStage({ limits, inThreads = false, hasSecond = false }: Stage) {
  const vendors = { first: heldVendor(), second: heldVendor() };
  const keys = { a: newApiKey(), b: newApiKey() };
  const provider = (baseUrl: string, more = {}) => ({ kind: "openai", base_url: baseUrl, api_key: "vk", ...more });
  const serves = [{ provider: "first", weight: 1 }, ...hasSecond ? [{ provider: "second", weight: 0 }] : []];
  const gateway = await startTestGateway({
    config: {
      accounts: Object.entries(keys).map(([id, key]) => ({ id, balance: "25.00", keys: [key] })),
      providers: {
        first: provider(vendors.first.baseUrl, limits),
        second: provider(vendors.second.baseUrl),
      },
      models: [{ ...textModel("acme/m", []), serves }],
      ...(inThreads && { limits: { large_body: 0 } }),
    },
  });
  const { address, adminKey } = gateway;
  const load = async () => {
    const headers = { authorization: `Bearer ${adminKey}` };
    const { data } = await (await fetch(`${address}/admin/v1/providers`, { headers })).json();
    return data.find((each: { name: string }) => each.name === "first");
  };
  if (inThreads) {
    // Starting a thread takes seconds, longer than the tests wait for their effects.
    const headers = { authorization: `Bearer ${keys.a}`, "content-type": "application/json" };
    const body = JSON.stringify({ model: "nobody/none", messages: [{ role: "user", content: "x" }] });
    await (await fetch(`${address}/v1/chat/completions`, { method: "POST", headers, body })).text();
  }
  return {
    gateway,
    vendors,
    load,
    /** The metric of waiting attempts. */
    depths: async () => {
      const headers = { authorization: `Bearer ${adminKey}` };
      const text = await (await fetch(`${address}/metrics`, { headers })).text();
      return text.split("\n").filter((line) => line.startsWith("switchyard_provider_waiting_attempts{"));
    },
    waiting: async (count: number) => void await eventually(async () => (await load()).limits.waiting === count),
    send: (account: "a" | "b", content: string, init: RequestInit & { readonly stream?: boolean } = {}) =>
      fetch(`${address}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${keys[account]}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "acme/m", messages: [{ role: "user", content }], stream: init.stream ?? false }),
        ...init,
      }),
    async stop() {
      await gateway.stop();
      await Promise.all(Object.values(vendors).map((vendor) => vendor.stop()));
    },
  };
}

for (const inThreads of [false, true]) {
  const place = inThreads ? "in threads" : "on the main thread";

  Deno.test(`a provider's slot is free at the end of a reply, and goes to the account in turn: ${place}`, async () => {
    const { vendors: { first }, send, waiting, load, depths, stop } = await startStage({
      limits: { concurrency: 1, max_wait: 60 },
      inThreads,
    });
    const order: string[] = [];
    const ask = async (account: "a" | "b", name: string) => {
      const response = await send(account, name, { stream: name === "a1" });
      assertEquals(response.status, 200);
      await response.text();
      order.push(name);
    };
    const asked = [ask("a", "a1")];
    await eventually(() => first.held.length === 1);
    for (const [count, [account, name]] of ([["a", "a2"], ["a", "a3"], ["b", "b1"]] as const).entries()) {
      asked.push(ask(account, name));
      await waiting(count + 1);
    }
    assertEquals(await depths(), ['switchyard_provider_waiting_attempts{provider="first"} 3']);
    for (let served = 1; served <= 4; served++) {
      await eventually(() => first.held.length === 1);
      first.letGo();
      await eventually(() => order.length === served);
    }
    await Promise.all(asked);
    assertEquals([order, first.maxOpen()], [["a1", "a2", "b1", "a3"], 1]);
    assertEquals((await load()).limits, {
      rpm: null,
      tpm: null,
      concurrency: 1,
      max_wait: 60,
      open: 0,
      waiting: 0,
    });
    await stop();
  });

  Deno.test(`a caller that leaves while it waits for a slot frees its place: ${place}`, async () => {
    const { vendors: { first }, send, waiting, load, stop } = await startStage({
      limits: { concurrency: 1, max_wait: 60 },
      inThreads,
    });
    const one = send("a", "one");
    await eventually(() => first.held.length === 1);
    const caller = new AbortController();
    const left = send("a", "left", { signal: caller.signal }).then(() => "answered", () => "left");
    await waiting(1);
    caller.abort();
    await waiting(0);
    assertEquals(await left, "left");
    first.letGo();
    assertEquals((await (await one).json()).choices[0].message.content, "one");
    assertEquals((await load()).limits.open, 0);
    await stop();
  });
}

Deno.test("a provider without a free slot counts as one that answers 429, but not as a failure", async () => {
  const { vendors, send, load, stop } = await startStage({ limits: { concurrency: 1, max_wait: 0 }, hasSecond: true });
  const { first, second } = vendors;
  const one = send("a", "one");
  await eventually(() => first.held.length === 1);
  const other = send("b", "other");
  await eventually(() => second.held.length === 1);
  second.letGo();
  first.letGo();
  assertEquals((await other).headers.get("x-service-provider"), "second");
  await (await other).text();
  await (await one).text();
  const { failed, circuit, state } = await load();
  assertEquals([failed, circuit, state], [0, "closed", "ready"]);
  await stop();
});

Deno.test("429 names the provider and the time to wait if no candidate has a free slot", async () => {
  const { vendors: { first }, send, stop } = await startStage({ limits: { rpm: 1, max_wait: 5 } });
  const one = send("a", "one");
  await eventually(() => first.held.length === 1);
  first.letGo();
  await (await one).text();
  const refused = await send("b", "two");
  const { error } = await refused.json();
  assertEquals([refused.status, error.code], [429, "rate_limit_exceeded"]);
  const seconds = Number(refused.headers.get("retry-after"));
  assert(seconds > 5 && seconds <= 60, String(seconds));
  assertEquals(refused.headers.get("x-service-provider"), "first");
  assertStringIncludes(error.message, 'Provider "first" has no free place within its limit of requests per minute');
  await stop();
});

Deno.test("a failed attempt returns its slot, also to the same call's next candidate", async () => {
  const { vendors, send, load, stop, gateway } = await startStage({ limits: { concurrency: 1, max_wait: 0 } });
  await vendors.first.stop();
  for (let time = 0; time < 3; time++) {
    const refused = await send("a", "down");
    assertEquals(refused.status, 502, gateway.logLines.join(""));
    await refused.text();
    assertEquals((await load()).limits.open, 0);
  }
  await stop();
});

Deno.test("pictures and cached contents take places of a provider, as texts do", async () => {
  const sandbox = await startSandbox({ port: 0 });
  const { openai, google } = sandbox.baseUrls;
  const limits = { rpm: 1, max_wait: 0 };
  const gateway = await startTestGateway({
    config: {
      providers: {
        pictures: { kind: "openai", base_url: openai, api_key: "sandbox-key-openai", ...limits },
        caches: { kind: "google", base_url: google, api_key: "sandbox-key-google", ...limits },
      },
      models: [
        textModel("sandbox/chat-1", ["pictures"]),
        textModel("sandbox/content-1", ["caches"]),
        {
          id: "sandbox/image-1",
          image: {},
          pricing: { per_image: "0.04" },
          serves: [{ provider: "pictures", model: "gpt-image-1.5" }],
        },
      ],
    },
  });
  const call = callerOf(gateway.address, { authorization: `Bearer ${gateway.key}` });
  const contents = [{ role: "user", parts: [{ text: "word ".repeat(2_000) }] }];
  for (
    const [first, second] of [
      [
        ["/v1/images/generations", { model: "sandbox/image-1", prompt: "a cat", quality: "low" }],
        ["/v1/chat/completions", { model: "sandbox/chat-1", messages: [{ role: "user", content: "hello" }] }],
      ],
      [
        ["/gencompat/v1beta/cachedContents", { model: "sandbox/content-1", contents, ttl: "600s" }],
        ["/gencompat/v1beta/models/sandbox/content-1:generateContent", { contents }],
      ],
    ] as const
  ) {
    const taken = await call("POST", first[0], first[1]);
    assertEquals(taken.status, 200, taken.text);
    const refused = await call("POST", second[0], second[1]);
    assertEquals(refused.status, 429, refused.text);
    assertStringIncludes(refused.json.error.message, "has no free place within its limit of requests per minute");
  }
  await gateway.stop();
  await sandbox.stop();
});

Deno.test("a video without a place at its provider stays pending, and is not sent", async () => {
  const created: string[] = [];
  const onRequest = ({ method, path }: { readonly method: string; readonly path: string }) => {
    if (method === "POST") created.push(path);
  };
  const sandbox = await startSandbox({ port: 0, onRequest });
  const gateway = await startVideoGateway({
    config: {
      providers: {
        ark: { kind: "ark", base_url: sandbox.baseUrls.ark, api_key: "sandbox-key-ark", rpm: 1, max_wait: 0 },
      },
      models: [{
        id: "sandbox/video-1",
        video: { modes: ["text2video"], price_per_second: { default: "0.01" } },
        serves: [{ provider: "ark" }],
      }],
    },
  });
  const [first, second] = [await gateway.create(), await gateway.create()];
  const stateOf = async (id: string) => (await gateway.call("GET", `/v1/videos/${id}`)).json.status;
  await eventually(async () => [await stateOf(first), await stateOf(second)].includes("completed"));
  const states = [await stateOf(first), await stateOf(second)].sort();
  assertEquals([states, created.length], [["completed", "pending"], 1]);
  await gateway.stop();
  await sandbox.stop();
});
