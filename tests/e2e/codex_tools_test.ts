import { assertEquals, assertMatch } from "@std/assert";
import { PRICING, startTestGateway, textModel } from "../support/gateway.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const seen: Json[] = [];

/** A vendor of responses that answers with a call of the first tool, and knows functions only unless it is OpenAI. */
const vendor = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
  const body = await request.json();
  seen.push(body);
  const isOpenAI = new URL(request.url).pathname.startsWith("/openai");
  const isForeign = body.tools.some(({ type }: Json) => type !== "function") ||
    body.input.some(({ type }: Json) => String(type).startsWith("custom_"));
  if (isForeign && !isOpenAI) {
    const error = { message: "Unknown tool type", type: "invalid_request_error", param: "tools", code: null };
    return Response.json({ error }, { status: 400 });
  }
  const [{ type, name }] = body.tools;
  const call = type === "custom"
    ? { type: "custom_tool_call", input: "ls" }
    : { type: "function_call", arguments: JSON.stringify({ input: "ls" }) };
  return Response.json({
    id: "resp_1",
    object: "response",
    created_at: 1_700_000_000,
    status: "completed",
    model: body.model,
    output: [{ id: "ctc_1", status: "completed", call_id: "call_1", name, ...call }],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    error: null,
    incomplete_details: null,
  });
});

const root = `http://127.0.0.1:${vendor.addr.port}`;
const gateway = await startTestGateway({
  config: {
    providers: {
      openai: { kind: "openai", base_url: `${root}/openai/v1`, api_key: "k", speaks: "responses", quirks: [] },
      other: { kind: "openai", base_url: `${root}/v1`, api_key: "k", speaks: "responses" },
    },
    models: ["openai/gpt-6.2-sol", "other/some-model"].map((id) => ({
      ...textModel(id, [id.slice(0, id.indexOf("/"))]),
      pricing: PRICING,
    })),
  },
});

const TOOLS = [
  { type: "custom", name: "shell", description: "Runs a command", format: { type: "text" } },
  {
    type: "namespace",
    name: "files",
    description: "Files",
    tools: [{ type: "function", name: "read", parameters: { type: "object", properties: {} } }],
  },
];
const INPUT = [
  { type: "message", role: "user", content: "a" },
  { type: "custom_tool_call", call_id: "call_0", name: "shell", input: "pwd" },
  { type: "custom_tool_call_output", call_id: "call_0", output: "/" },
];

async function respond(model: string): Promise<{ status: number; body: Json; sent: Json }> {
  seen.length = 0;
  const response = await fetch(`${gateway.address}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, input: INPUT, tools: TOOLS, tool_choice: { type: "custom", name: "shell" } }),
  });
  return { status: response.status, body: await response.json(), sent: seen[0] };
}

Deno.test("tools of Codex pass to OpenAI as they are", async () => {
  const { status, body, sent } = await respond("openai/gpt-6.2-sol");
  assertEquals([status, sent.tools, sent.input], [200, TOOLS, INPUT]);
  assertEquals([body.output[0].type, body.output[0].input], ["custom_tool_call", "ls"]);
});

Deno.test("other vendors get tools of Codex as functions, and the calls come back as Codex knows them", async () => {
  const { status, body, sent } = await respond("other/some-model");
  assertEquals(status, 200, JSON.stringify(body));
  assertEquals(sent.tools.map(({ type }: Json) => type), ["function", "function"]);
  assertMatch(sent.tools[1].name, /^files_read/);
  assertEquals(sent.tool_choice, { type: "function", name: "shell" });
  assertEquals(sent.input.slice(1).map(({ type }: Json) => type), ["function_call", "function_call_output"]);
  const [call] = body.output;
  assertEquals([call.type, call.name, call.input], ["custom_tool_call", "shell", "ls"]);
});

Deno.test("the gateway and the vendor stop", async () => {
  await gateway.stop();
  await vendor.shutdown();
});
