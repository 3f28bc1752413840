import { assertEquals, assertStringIncludes } from "@std/assert";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { PRICING, startTestGateway, textModel } from "../support/gateway.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const seen: { readonly path: string; readonly version: string | null; readonly body: Json }[] = [];

/** A vendor of the messages format that records the version of each request. */
const vendor = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
  const { pathname } = new URL(request.url);
  seen.push({ path: pathname, version: request.headers.get("anthropic-version"), body: await request.json() });
  return Response.json({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "ok" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  });
});

const sandbox = await startSandbox({ port: 0 });
const base_url = `http://127.0.0.1:${vendor.addr.port}`;
const served = (provider: string, model: string) => ({
  ...textModel(`${provider}/${model}`, [provider]),
  pricing: PRICING,
  serves: [{ provider, model }],
});
const gateway = await startTestGateway({
  config: {
    providers: {
      anthropic: { kind: "anthropic", base_url, api_key: "k" },
      set: { kind: "anthropic", base_url, api_key: "k", headers: { "Anthropic-Version": "2023-01-01" } },
      sandbox: { kind: "anthropic", base_url: sandbox.baseUrls.anthropic, api_key: "k" },
      bedrock: { kind: "bedrock", base_url, api_key: "k", region: "us-east-1" },
      vertex: { kind: "vertex", base_url, api_key: "k", project: "acme-project", location: "us-east5" },
    },
    models: [
      served("anthropic", "claude-haiku-4-5"),
      served("anthropic", "claude-opus-5-5"),
      served("set", "claude-haiku-4-5"),
      served("bedrock", "anthropic.claude-haiku-4-5-20251001-v1:0"),
      served("vertex", "anthropic/claude-haiku-4-5"),
      textModel("sandbox/messages-1", ["sandbox"]),
    ],
  },
});

interface Got {
  readonly status: number;
  readonly text: string;
  readonly dropped: string;
  readonly version: string | null;
  readonly body: Json;
}

async function post(model: string, version: string, fields: Json = {}, path = "/msgcompat/v1/messages"): Promise<Got> {
  seen.length = 0;
  const response = await fetch(`${gateway.address}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.key}`,
      "anthropic-version": version,
      "content-type": "application/json",
    },
    body: JSON.stringify({ model, max_tokens: 100, messages: [{ role: "user", content: "hi" }], ...fields }),
  });
  const text = await response.text();
  const dropped = response.headers.get("x-service-dropped") ?? "";
  return { status: response.status, text, dropped, version: seen[0]?.version ?? null, body: seen[0]?.body };
}

Deno.test("a version that the facts know is forwarded with a request that passes through unchanged", async () => {
  const { status, version, dropped } = await post("anthropic/claude-haiku-4-5", "2026-10-21");
  assertEquals([status, version, dropped], [200, "2026-10-21", ""]);
});

Deno.test("any other version, and a request that changes or is translated, goes out with 2023-06-01", async () => {
  for (const version of ["2023-06-01", "2025-01-01", "2027-03-01"]) {
    assertEquals((await post("anthropic/claude-haiku-4-5", version)).version, "2023-06-01");
  }
  const changed = await post("anthropic/claude-opus-5-5", "2026-10-21", { temperature: 0.5 });
  assertEquals([changed.version, changed.dropped], ["2023-06-01", "temperature"]);
  const translated = await post("anthropic/claude-haiku-4-5", "2026-10-21", {}, "/v1/chat/completions");
  assertEquals([translated.status, translated.version], [200, "2023-06-01"]);
});

Deno.test("a request that the newer version refuses and the model takes goes out with 2023-06-01, unchanged", async () => {
  const cited = { type: "char_location", cited_text: "a", document_index: 0, start_char_index: 0, end_char_index: 1 };
  const document = { type: "document", source: { type: "text", media_type: "text/plain", data: "a" } };
  const say = (role: string, ...content: Json[]) => ({ role, content });
  const text = { type: "text", text: "hi" };
  for (
    const fields of [
      { temperature: 1 },
      { top_p: 0.5 },
      { top_k: 5 },
      { messages: [say("user", text), say("assistant", text, document), say("user", text)] },
      { messages: [say("user", { ...text, citations: [cited] })] },
    ]
  ) {
    const { status, version, body, dropped } = await post("anthropic/claude-haiku-4-5", "2026-10-21", fields);
    assertEquals([status, version, dropped], [200, "2023-06-01", ""], JSON.stringify(fields));
    for (const [name, value] of Object.entries(fields)) assertEquals(body[name], value);
    const strict = await post("sandbox/messages-1", "2026-10-21", fields);
    assertEquals(strict.status, 200, strict.text);
  }
});

Deno.test("a version that the operator sets stays, and Bedrock and Vertex AI receive none", async () => {
  assertEquals((await post("set/claude-haiku-4-5", "2026-10-21")).version, "2023-01-01");
  const bedrock = await post("bedrock/anthropic.claude-haiku-4-5-20251001-v1:0", "2026-10-21");
  assertEquals([bedrock.status, bedrock.version, bedrock.body.anthropic_version], [200, null, "bedrock-2023-05-31"]);
  const vertex = await post("vertex/anthropic/claude-haiku-4-5", "2026-10-21");
  assertEquals([vertex.status, vertex.version, vertex.body.anthropic_version], [200, null, "vertex-2023-10-16"]);
});

Deno.test("a version that is no date is refused", async () => {
  const { status, text } = await post("anthropic/claude-haiku-4-5", "latest");
  assertEquals(status, 400);
  assertStringIncludes(text, "msg-version");
});

Deno.test("the gateway and the vendor stop", async () => {
  await gateway.stop();
  await sandbox.stop();
  await vendor.shutdown();
});
