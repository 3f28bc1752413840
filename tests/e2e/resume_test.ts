import { assert, assertEquals } from "@std/assert";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { itemAt } from "../support/items.ts";
import { until } from "../support/manual_clock.ts";
import { startScriptedUpstream, STREAM_HEAD } from "../support/scripted_upstream.ts";
import { assertErrorShape, CALLER_PROTOCOLS, CHAT, CONTENT, sendAs } from "./caller_protocols.ts";

const KEY = newApiKey();
const SECOND = newApiKey();
const OTHER = newApiKey();
const RESUME = { "x-service-resume": "true" };
const accounts = [
  { id: "demo", balance: "25.00", keys: [KEY, SECOND] },
  { id: "other", balance: "25.00", keys: [OTHER] },
];

/** What the vendor waits for in the middle of its stream. */
let gate = Promise.withResolvers<void>();
const chunk = (choices: unknown, usage: unknown = null) => `data: ${JSON.stringify({ id: "c", choices, usage })}\n\n`;
const delta = (content: string) => chunk([{ index: 0, delta: { content }, finish_reason: null }]);
const slow = startScriptedUpstream(async (side) => {
  if (await side.request() === null) return;
  await side.say(STREAM_HEAD + delta("one") + delta("two"));
  await Promise.race([gate.promise, side.gone()]);
  await side.say(
    delta("three") + chunk([{ index: 0, delta: {}, finish_reason: "stop" }]) +
      chunk([], { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }) + "data: [DONE]\n\n",
  );
});

const slowly = {
  accounts,
  providers: { slow: { kind: "openai", base_url: slow.baseUrl, api_key: "vendor-key-1", speaks: "chat" } },
  models: [textModel("sandbox/slow-1", ["slow"])],
};
const gateways = {
  "one thread": await startTestGateway({ config: { accounts, limits: { large_body: 4_000 } } }),
  "several threads": await startTestGateway({ config: { accounts, limits: { large_body: 4_000 } }, isolates: 2 }),
};
const slowGateways = {
  "one thread": await startTestGateway({ config: slowly }),
  "several threads": await startTestGateway({ config: slowly, isolates: 2 }),
};

async function eventsOf(address: string, path: string, lastId: number | string | null, key = KEY) {
  const response = await fetch(address + path, {
    headers: { authorization: `Bearer ${key}`, ...lastId !== null && { "last-event-id": String(lastId) } },
  });
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
}

function pathIn(headers: Headers): string {
  const path = headers.get("x-service-resume") ?? "";
  assert(path.startsWith("/v1/requests/req_") && path.endsWith("/stream"), path);
  return path;
}

/** The blocks of a stream with an id. */
const blocksIn = (text: string) => text.match(/[^]*?(?:\r\n\r\n|\n\n)/g)?.filter((block) => /^id: /m.test(block)) ?? [];
const withoutIds = (text: string) => text.replaceAll(/^id: \d+\r?\n/gm, "");
/** Ids and times differ from request to request. */
const shapeOf = (text: string) =>
  withoutIds(text).replaceAll(
    /"(?:id|item_id|response_id|responseId|created|created_at|completed_at|createTime)":(?:"[^"]*"|\d+)/g,
    "",
  );

for (const [name, gateway] of Object.entries(gateways)) {
  for (const face of CALLER_PROTOCOLS) {
    Deno.test(`a resumable ${face.name} stream has ids, and is read again after each of them, in ${name}`, async () => {
      const caller = { address: gateway.address, key: KEY };
      const plain = await sendAs(face, caller, { stream: true });
      assertEquals([plain.headers.get("x-service-resume"), /^id: \d/m.test(plain.text)], [null, false]);
      const { text, headers, status } = await sendAs(face, caller, { stream: true, headers: RESUME });
      assertEquals(status, 200);
      const blocks = blocksIn(text);
      assertEquals(blocks.map((block) => /^id: (\d+)\r?$/m.exec(block)?.[1]), blocks.map((_, n) => String(n + 1)));
      assertEquals(shapeOf(text), shapeOf(plain.text));
      const path = pathIn(headers);
      for (let lastId = 0; lastId < blocks.length; lastId++) {
        const again = await eventsOf(gateway.address, path, lastId === 0 ? null : lastId);
        assertEquals([again.status, again.type], [200, "text/event-stream"]);
        assertEquals(again.text, blocks.slice(lastId).join(""));
      }
      assertEquals((await eventsOf(gateway.address, path, blocks.length)).status, 204);
    });
  }

  Deno.test(`a large resumable stream is read again, in ${name}`, async () => {
    const caller = { address: gateway.address, key: KEY };
    const { text, headers } = await sendAs(CHAT, caller, {
      stream: true,
      headers: RESUME,
      text: "word ".repeat(2_000),
    });
    const again = await eventsOf(gateway.address, pathIn(headers), 1);
    assertEquals(again.text, blocksIn(text).slice(1).join(""));
  });

  Deno.test(`streams of other accounts, unknown ones and bad ids are refused, in ${name}`, async () => {
    const caller = { address: gateway.address, key: KEY };
    const { text, headers } = await sendAs(CHAT, caller, { stream: true, headers: RESUME });
    const path = pathIn(headers);
    const last = blocksIn(text).length;
    const { address } = gateway;
    assertEquals((await eventsOf(address, path, last - 1, SECOND)).status, 200);
    assertEquals((await eventsOf(address, path, null, OTHER)).status, 404);
    assertEquals((await eventsOf(address, path, null, "sk-sy-unknown")).status, 401);
    assertEquals((await eventsOf(address, "/v1/requests/req_0/stream", null)).status, 404);
    for (const bad of [last + 1, "-1", "x", "1e3", "9".repeat(400)]) {
      assertEquals((await eventsOf(address, path, bad)).status, 400, String(bad));
    }
    for (const face of CALLER_PROTOCOLS) {
      const answer = await sendAs(face, caller, { stream: true, headers: { "x-service-resume": "yes" } });
      assertEquals(answer.status, 400);
      assertErrorShape(face, answer);
    }
  });

  Deno.test(`whole replies and JSON arrays are as without the header, in ${name}`, async () => {
    const caller = { address: gateway.address, key: KEY };
    for (const face of CALLER_PROTOCOLS) {
      const { status, json, headers } = await sendAs(face, caller, { headers: RESUME });
      assertEquals([status, typeof face.textIn(json), headers.get("x-service-resume")], [200, "string", null]);
    }
    const path = CONTENT.path("sandbox/content-1", true).replace("?alt=sse", "");
    const array = await sendAs(CONTENT, caller, { path, headers: RESUME });
    assertEquals([array.status, Array.isArray(array.json)], [200, true]);
  });
}

for (const [name, gateway] of Object.entries(slowGateways)) {
  const { address } = gateway;

  /** Sends a resumable request and leaves after two events. */
  const leaveAfterTwo = async (headers: Record<string, string> = {}) => {
    const leaving = new AbortController();
    const response = await fetch(`${address}/v1/chat/completions`, {
      method: "POST",
      headers: { ...CHAT.headers(KEY), ...RESUME, ...headers },
      body: JSON.stringify(CHAT.body("sandbox/slow-1", "hello", true)),
      signal: leaving.signal,
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("id: 2\n\n")) text += (await reader.read()).value;
    leaving.abort();
    await reader.closed.catch(() => {});
    return { path: pathIn(response.headers), id: response.headers.get("x-service-request-id")! };
  };

  const balance = async () => {
    const response = await fetch(`${address}/v1/credits`, { headers: { authorization: `Bearer ${KEY}` } });
    return Number((await response.json()).balance);
  };

  Deno.test(`a stream goes on without its caller, is charged whole, and is resumed while it runs, in ${name}`, async () => {
    gate = Promise.withResolvers();
    const before = await balance();
    const { path } = await leaveAfterTwo();
    const resumed = eventsOf(address, path, 2);
    const fromStart = eventsOf(address, path, null);
    gate.resolve();
    const { status, text } = await resumed;
    assertEquals(status, 200);
    assert(text.includes("three") && text.includes("[DONE]") && !text.includes('"two"'));
    assertEquals(blocksIn((await fromStart).text).slice(2).join(""), text);
    assertEquals((before - await balance()).toFixed(6), "0.000020");
  });

  Deno.test(`a resumable stream with an idempotency key is repeated whole after its caller left, in ${name}`, async () => {
    gate = Promise.withResolvers();
    const requests = slow.seen.length;
    const keyed = { "idempotency-key": `resumed-${name.replaceAll(" ", "-")}` };
    const { id } = await leaveAfterTwo(keyed);
    gate.resolve();
    const repeat = () =>
      sendAs(CHAT, { address, key: KEY }, {
        model: "sandbox/slow-1",
        text: "hello",
        stream: true,
        headers: { ...RESUME, ...keyed },
      });
    let again = await repeat();
    while (again.status === 409) again = await repeat();
    assertEquals([again.status, again.headers.get("x-service-original-request-id")], [200, id]);
    assert(again.text.includes("one") && again.text.includes("[DONE]"));
    assertEquals(slow.seen.length, requests + 1);
  });
}

Deno.test("the official clients read streams with ids", async () => {
  const { address } = gateways["one thread"];
  const openai = new OpenAI({ baseURL: `${address}/v1`, apiKey: KEY, defaultHeaders: RESUME });
  let text = "";
  const messages = [{ role: "user" as const, content: "[[words 5]]" }];
  for await (const each of await openai.chat.completions.create({ model: "sandbox/chat-1", stream: true, messages })) {
    text += each.choices[0]?.delta.content ?? "";
  }
  assertEquals(text, "word1 word2 word3 word4 word5");
  const anthropic = new Anthropic({ baseURL: `${address}/msgcompat`, apiKey: KEY, defaultHeaders: RESUME });
  const stream = anthropic.messages.stream({ model: "sandbox/messages-1", max_tokens: 50, messages });
  assertEquals(await stream.finalText(), text);
});

Deno.test("a stop waits for a stream without its caller, then ends and charges it", async () => {
  const stopping = await startTestGateway({
    config: { ...slowly, server: { port: 0, shutdown_grace: 0.2 } },
    store: `kv:${await Deno.makeTempDir()}/s.db`,
  });
  gate = Promise.withResolvers();
  const leaving = new AbortController();
  const response = await fetch(`${stopping.address}/v1/chat/completions`, {
    method: "POST",
    headers: { ...CHAT.headers(KEY), ...RESUME },
    body: JSON.stringify(CHAT.body("sandbox/slow-1", "hello", true)),
    signal: leaving.signal,
  });
  await response.body!.getReader().read();
  leaving.abort();
  const { store } = stopping.app;
  const charges = async () =>
    (await store.ledger("demo", { limit: 10 })).filter(({ operation }) => operation === "charge");
  let found = await charges();
  assertEquals(found.length, 0);
  store.close = ((close) => async () => {
    found = await charges();
    await close();
  })(store.close.bind(store));
  await stopping.stop();
  gate.resolve();
  assertEquals(found.length, 1);
});

for (const isolates of [1, 2]) {
  Deno.test(`a burst of resumable streams does not pass the limit of its account, ${isolates} threads`, async () => {
    const few = await startTestGateway({ isolates, config: { ...slowly, limits: { resume: { streams: 10 } } } });
    gate = Promise.withResolvers();
    const send = () =>
      sendAs(CHAT, { address: few.address, key: KEY }, { model: "sandbox/slow-1", stream: true, headers: RESUME });
    const before = slow.seen.length;
    let refused = 0;
    const burst = Array.from({ length: 60 }, async () => {
      const { status } = await send();
      if (status === 429) refused++;
      return status;
    });
    await until(() => refused === 50 || slow.seen.length > before + 10);
    gate.resolve();
    const statuses = await Promise.all(burst);
    assertEquals(statuses.filter((status) => status === 200).length, 10);
    assertEquals(slow.seen.length, before + 10);
    await few.stop();
  });
}

Deno.test("streams can be switched off, and those of an account are limited", async () => {
  const off = await startTestGateway({ config: { limits: { resume: { enabled: false } } } });
  const plain = await sendAs(CHAT, off, { stream: true, headers: RESUME });
  assertEquals([plain.status, plain.headers.get("x-service-resume"), blocksIn(plain.text)], [200, null, []]);
  await off.stop();

  const few = await startTestGateway({ config: { ...slowly, limits: { resume: { streams: 2 } } } });
  gate = Promise.withResolvers();
  const send = (key = KEY) =>
    sendAs(CHAT, { address: few.address, key }, { model: "sandbox/slow-1", stream: true, headers: RESUME });
  const before = slow.seen.length;
  const open = [send(), send()];
  await until(() => slow.seen.length === before + 2);
  let refused = await send().then(({ status }) => status);
  assertEquals(refused, 429);
  gate.resolve();
  const paths = (await Promise.all(open)).map(({ headers }) => pathIn(headers));
  refused = await send().then(({ status }) => status);
  assertEquals(refused, 200);
  const left = await Promise.all(paths.map((path) => eventsOf(few.address, path, null)));
  assertEquals(left.map(({ status }) => status).toSorted(), [200, 404]);
  assertEquals(itemAt(paths, 0) === itemAt(paths, 1), false);
  await few.stop();
});

Deno.test.afterAll(async () => {
  for (const each of [...Object.values(gateways), ...Object.values(slowGateways)]) await each.stop();
  await slow.stop();
});
