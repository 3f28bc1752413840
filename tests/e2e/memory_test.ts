import { assertEquals } from "@std/assert";
import { newApiKey } from "../../src/billing/api_key.ts";
import { eventually } from "../support/purse.ts";
import { startTestGateway } from "../support/gateway.ts";

const keys = { hoarder: newApiKey(), neighbour: newApiKey() };
const gateway = await startTestGateway({
  config: {
    accounts: Object.entries(keys).map(([id, key]) => ({ id, balance: "5.00", keys: [key] })),
    limits: { memory: "400MB", text_body: "20MB" },
  },
});
const { memory } = gateway.app;
const { hostname, port } = new URL(gateway.address);

/** An upload of which only the beginning is sent. */
async function beginUpload(key: string, path: string, head = "Content-Length: 19000000"): Promise<Deno.Conn> {
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
  const buffer = new Uint8Array(65_536);
  const length = await connection.read(buffer);
  return new TextDecoder().decode(buffer.subarray(0, length ?? 0));
}

function chat(key: string, content: string): Promise<Response> {
  return fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content }] }),
  });
}

const CHAT = "/v1/chat/completions";

Deno.test("unfinished uploads hold at most a quarter of the memory, and nothing once they are closed", async () => {
  const uploads = [await beginUpload(keys.hoarder, CHAT)];
  await eventually(() => memory.inUse === 76_000_000); // 19 MB at four bytes of memory each
  const refused = await beginUpload(keys.hoarder, CHAT);
  const answer = await answerOn(refused);
  assertEquals([answer.split(" ")[1], /^retry-after: \d+\r$/mi.test(answer)], ["503", true]);
  assertEquals(/"code":"overloaded"/.test(answer), true);
  refused.close();
  assertEquals(memory.inUse, 76_000_000);
  const neighbour = await chat(keys.neighbour, "hello");
  assertEquals(neighbour.status, 200);
  await neighbour.body?.cancel();
  uploads.forEach((upload) => upload.close());
  await eventually(() => memory.inUse === 0);
});

Deno.test("the refusal is told in the caller's protocol", async () => {
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

Deno.test("a body that could never be held is 413, not a refusal to come back from", async () => {
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

Deno.test("values that cost more memory than their text are counted by what they cost", async () => {
  const response = await fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${keys.hoarder}`, "content-type": "application/json" },
    body: `{"model":"sandbox/chat-1","x":[${"{},".repeat(1_100_000)}{}]}`, // 3.3 MB of text
  });
  assertEquals([response.status, (await response.json()).error.code], [413, "request_too_large"]);
  await eventually(() => memory.inUse === 0);
});

Deno.test("nothing is held when replies were taken, refused or left", async () => {
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
