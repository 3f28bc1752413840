import { assertEquals } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { atLeast } from "../support/items.ts";
import { accountMoney, eventually } from "../support/account_money.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { readAnswers } from "../support/raw_http.ts";
import { always, answer, startScriptedUpstream } from "../support/scripted_upstream.ts";

const keys = { hoarder: newApiKey(), neighbour: newApiKey() };
const gateway = await startTestGateway({
  config: {
    accounts: Object.entries(keys).map(([id, key]) => ({ id, balance: "5.00", keys: [key] })),
    limits: { memory: "400MB", text_body: "20MB" },
  },
});
const { memory } = gateway.app;
const { hostname, port } = new URL(gateway.address);

/** Sends only the start of an upload. */
async function beginUpload(key: string, path: string, head = "Content-Length: 18944000"): Promise<Deno.Conn> {
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const lines = [
    `POST ${path} HTTP/1.1`,
    "Host: h",
    `Authorization: Bearer ${key}`,
    "msg-version: 2023-06-01",
    "Content-Type: application/json",
    head,
  ];
  await connection.write(new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n{"model"`));
  return connection;
}

async function answerOn(connection: Deno.Conn): Promise<string> {
  return (await readAnswers(connection)).text;
}

function chat(key: string, content: string): Promise<Response> {
  return fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content }] }),
  });
}

const CHAT = "/v1/chat/completions";

Deno.test("unfinished uploads use at most a quarter of the memory, and none once they are closed", async () => {
  const uploads = [await beginUpload(keys.hoarder, CHAT)];
  await eventually(() => memory.inUse === 75_776_000); // 18,500 KiB at four bytes of memory each: threads count in KiB
  const refused = await beginUpload(keys.hoarder, CHAT);
  const answer = await answerOn(refused);
  assertEquals([answer.split(" ")[1], /^retry-after: \d+\r$/mi.test(answer)], ["503", true]);
  assertEquals(/"code":"overloaded"/.test(answer), true);
  refused.close();
  assertEquals(memory.inUse, 75_776_000);
  const neighbour = await chat(keys.neighbour, "hello");
  assertEquals(neighbour.status, 200);
  await neighbour.body?.cancel();
  uploads.forEach((upload) => upload.close());
  await eventually(() => memory.inUse === 0);
});

Deno.test("the refusal has the caller's protocol", async () => {
  const holding = await beginUpload(keys.hoarder, CHAT);
  await eventually(() => memory.inUse > 0);
  const shapes: readonly [path: string, expected: RegExp][] = [
    ["/v1/responses", /"type":"overloaded_error"/],
    ["/msgcompat/v1/messages", /"type":"error","error":\{"type":"overloaded_error"/],
    ["/gencompat/v1beta/models/sandbox/content-1:generateContent", /"code":503,.*"status":"UNAVAILABLE"/],
    ["/v1/videos", /\{"error":\{"code":"overloaded"/],
  ];
  for (const [path, expected] of shapes) {
    const connection = await beginUpload(keys.hoarder, path);
    const answer = await answerOn(connection);
    assertEquals([answer.split(" ")[1], expected.test(answer)], ["503", true], answer);
    connection.close();
  }
  holding.close();
  await eventually(() => memory.inUse === 0);
});

Deno.test("an upload of unknown length takes memory in steps", async () => {
  const connection = await beginUpload(keys.hoarder, CHAT, "Transfer-Encoding: chunked");
  await eventually(() => memory.inUse > 0);
  assertEquals(memory.inUse, 4 * 65_536);
  connection.close();
  await eventually(() => memory.inUse === 0);
});

Deno.test("a request without a valid key takes no memory, whatever length it announces", async () => {
  const connection = await beginUpload(newApiKey(), CHAT);
  assertEquals((await answerOn(connection)).split(" ")[1], "401");
  assertEquals(memory.inUse, 0);
  connection.close();
});

Deno.test("a body above the memory of an account is 413 without a Retry-After", async () => {
  const small = await startTestGateway({ config: { limits: { memory: "40MB" } } });
  try {
    const response = await fetch(`${small.address}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${small.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content: "a".repeat(3_000_000) }] }),
    });
    assertEquals([response.status, (await response.json()).error.code], [413, "request_too_large"]);
    assertEquals(small.app.memory.inUse, 0);
  } finally {
    await small.stop();
  }
});

Deno.test("values that need more memory than their text are counted by what they need", async () => {
  const response = await fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${keys.hoarder}`, "content-type": "application/json" },
    body: `{"model":"sandbox/chat-1","x":[${"{},".repeat(1_100_000)}{}]}`, // 3.3 MB of text
  });
  assertEquals([response.status, (await response.json()).error.code], [413, "request_too_large"]);
  await eventually(() => memory.inUse === 0);
});

/** A server of media with the length in the path; with or without Content-Length. */
function startMediaServer() {
  const requests: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { pathname } = new URL(request.url);
    requests.push(pathname);
    const [, kind, length] = atLeast(pathname.split("/"), 3);
    let left = Number(length);
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = new Uint8Array(Math.min(left, 65_536));
        left -= piece.length;
        controller.enqueue(piece);
        if (left === 0) controller.close();
      },
    }, { highWaterMark: 0 });
    const headers: Record<string, string> = { "content-type": "text/plain" };
    if (kind === "announced") headers["content-length"] = length;
    return new Response(body, { headers });
  });
  return { address: `http://127.0.0.1:${server.addr.port}`, requests, stop: () => server.shutdown() };
}

function chatAbout(key: string, urls: readonly string[]): Promise<Response> {
  const content = urls.map((url) => ({ type: "image_url", image_url: { url } }));
  return fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/content-1", messages: [{ role: "user", content }] }),
  });
}

Deno.test("media that are too large together are rejected before they are downloaded", async () => {
  const media = startMediaServer();
  try {
    for (const [kind, status] of [["announced", 413], ["streamed", 413]] as const) {
      const urls = Array.from({ length: 20 }, (_, at) => `${media.address}/${kind}/20000000/${at}`);
      const response = await chatAbout(keys.hoarder, urls);
      const { error } = await response.json();
      assertEquals([response.status, error.code], [status, "request_too_large"]);
      assertEquals(media.requests.splice(0).length <= 4, true);
      await eventually(() => memory.inUse === 0);
    }
  } finally {
    await media.stop();
  }
});

Deno.test("media above the account's memory are rejected, and those of others are not", async () => {
  const media = startMediaServer();
  const holding = [await beginUpload(keys.hoarder, CHAT)];
  try {
    await eventually(() => memory.inUse === 75_776_000);
    const refused = await chatAbout(keys.hoarder, [`${media.address}/announced/10000000/0`]);
    assertEquals([refused.status, (await refused.json()).error.code], [503, "overloaded"]);
    const neighbour = await chatAbout(keys.neighbour, [`${media.address}/announced/1000000/0`]);
    assertEquals((await neighbour.json()).error?.code === "overloaded", false);
  } finally {
    holding.forEach((upload) => upload.close());
    await eventually(() => memory.inUse === 0);
    await media.stop();
  }
});

Deno.test("a download ends when its caller disconnects", async () => {
  const began = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(8)),
      pull: () => began.resolve(),
      cancel: () => cancelled.resolve(),
    });
    return new Response(body, { headers: { "content-length": "10000000" } });
  });
  const left = new AbortController();
  const content = [{ type: "image_url", image_url: { url: `http://127.0.0.1:${server.addr.port}/` } }];
  const asking = fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${keys.hoarder}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/content-1", messages: [{ role: "user", content }] }),
    signal: left.signal,
  }).catch(() => null);
  await began.promise;
  await eventually(() => memory.inUse > 40_000_000);
  left.abort();
  await Promise.all([asking, cancelled.promise]);
  await eventually(() => memory.inUse === 0);
  await server.shutdown();
});

Deno.test("a reply above the available memory is 503, is charged, and uses no memory", async () => {
  const reply = { role: "assistant", content: "a".repeat(4_000_000) };
  const usage = { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 };
  const choices = [{ index: 0, message: reply, finish_reason: "stop" }];
  const body = JSON.stringify({ id: "c", object: "chat.completion", created: 1, model: "m", choices, usage });
  const vendor = startScriptedUpstream(always(answer(200, body)));
  const small = await startTestGateway({
    config: {
      limits: { memory: "40MB" },
      providers: { acme: { kind: "openai", base_url: vendor.baseUrl, api_key: "key-of-the-provider", speaks: "chat" } },
      models: [textModel("acme/m", ["acme"])],
    },
  });
  try {
    const money = accountMoney({ address: small.address, adminKey: small.adminKey });
    const before = await money.balance();
    const response = await fetch(`${small.address}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${small.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/m", messages: [{ role: "user", content: "hello" }] }),
    });
    assertEquals([response.status, (await response.json()).error.code], [503, "overloaded"]);
    assertEquals(response.headers.get("retry-after"), "5");
    assertEquals(vendor.seen.length, 1);
    assertEquals(await money.balance() < before, true);
    await eventually(() => small.app.memory.inUse === 0);
  } finally {
    await small.stop();
    await vendor.stop();
  }
});

Deno.test("no memory is in use after replies were read, rejected or abandoned", async () => {
  const all = await Promise.all(
    ["hello", "", "a".repeat(300_000)].flatMap((
      content,
    ) => [chat(keys.hoarder, content), chat(keys.neighbour, content)]),
  );
  await Promise.all(all.map((response, at) => at % 2 === 0 ? response.text() : response.body?.cancel()));
  await eventually(() => memory.inUse === 0);
});

Deno.test({
  name: "the gateway of the memory tests stops",
  fn: () => gateway.stop(),
  sanitizeResources: false,
  sanitizeOps: false,
});
