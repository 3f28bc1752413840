import { assertEquals, assertStringIncludes } from "@std/assert";
import { PRICING, startTestGateway, textModel } from "../support/gateway.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const seen: { readonly path: string; readonly body: Json }[] = [];

/** DeepSeek, Moonshot, Z.ai, xAI and Groq as they answer in November 2026. */
const vendor = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
  const body = await request.json();
  const { pathname } = new URL(request.url);
  seen.push({ path: pathname, body });
  const isResponse = pathname.endsWith("/responses");
  const param = isResponse ? null : refusedField(body);
  if (param !== null) {
    const error = { message: `${param} is not supported by this model`, type: "invalid_request_error", param };
    return Response.json({ error }, { status: 400 });
  }
  return Response.json(isResponse ? responseTo(body) : completionTo(body));
});

function refusedField(body: Json): string | null {
  const { model, reasoning_effort: effort, thinking, tool_choice: choice } = body;
  const isOff = thinking?.type === "disabled" || effort === "none";
  const isForced = choice === "required" || typeof choice === "object";
  const hasBareCall = body.messages.some((message: Json) =>
    message.tool_calls !== undefined && message.reasoning_content === undefined
  );
  if (model.startsWith("deepseek-")) {
    if (isForced && !isOff) return "tool_choice";
    if (hasBareCall && !isOff) return "messages.reasoning_content";
    if (body.response_format?.type === "json_schema") return "response_format";
    // In truth it is ignored, so that the reply has no limit.
    return body.max_completion_tokens === undefined ? null : "max_completion_tokens";
  }
  if (model.startsWith("kimi-")) {
    if (effort === "none" || (thinking !== undefined && effort !== undefined)) return "reasoning_effort";
    if (isOff && model !== "kimi-k2.6") return "thinking";
    if (hasBareCall && !isOff) return "messages.reasoning_content";
    return isForced ? "tool_choice" : null;
  }
  if (model === "glm-5.3") {
    if (thinking?.type === "disabled") return "thinking";
    return effort === undefined || ["low", "high", "max"].includes(effort) ? null : "reasoning_effort";
  }
  if (model.startsWith("grok-4.")) {
    if (effort === "none") return "reasoning_effort";
    return ["presence_penalty", "frequency_penalty", "stop"].find((name) => body[name] !== undefined) ?? null;
  }
  if (model.includes("gpt-oss") && ["none", "minimal", "xhigh"].includes(effort)) return "reasoning_effort";
  return null;
}

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

function completionTo({ model }: Json): Json {
  const message = { role: "assistant", content: "one two STOP three" };
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: USAGE,
  };
}

function responseTo({ model }: Json): Json {
  const text = { type: "output_text", text: "{}", annotations: [] };
  return {
    id: "resp_1",
    object: "response",
    created_at: 1_700_000_000,
    status: "completed",
    model,
    output: [{ id: "msg_1", type: "message", status: "completed", role: "assistant", content: [text] }],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    error: null,
    incomplete_details: null,
  };
}

const base_url = `http://127.0.0.1:${vendor.addr.port}/v1`;
const MODELS = [
  "deepseek-v4-pro",
  "deepseek-flash",
  "kimi-k3.1-pro",
  "kimi-k2.6",
  "kimi-k2.7-code",
  "glm-5.3",
  "grok-4.7",
  "openai/gpt-oss-120b",
];
const served = (provider: string, model: string, id = model) => ({
  ...textModel(`${provider}/${id}`, [provider]),
  pricing: PRICING,
  serves: [{ provider, model }],
});
const gateway = await startTestGateway({
  config: {
    providers: {
      own: { kind: "openai", base_url, api_key: "k" },
      both: { kind: "openai", base_url, api_key: "k", speaks: "both" },
      host: { kind: "openai", base_url, api_key: "k" },
    },
    models: [
      ...MODELS.map((model) => served("own", model)),
      served("both", "deepseek-v4-pro"),
      served("host", "deepseek-ai/DeepSeek-V4-Pro", "deepseek-v4"),
      { ...served("host", "house-model"), facts: { can_reason: true, forced_calls: "never" } },
    ],
  },
});

interface Got {
  readonly status: number;
  readonly text: string;
  readonly dropped: readonly string[];
  readonly path: string;
  readonly sent: Json;
}

async function post(path: string, fields: Json): Promise<Got> {
  seen.length = 0;
  const response = await fetch(`${gateway.address}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.key}`,
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
    },
    body: JSON.stringify({ messages: [{ role: "user", content: "hi" }], ...fields }),
  });
  const dropped = (response.headers.get("x-service-dropped") ?? "").split(", ").filter((name) => name !== "");
  const text = await response.text();
  return { status: response.status, text, dropped, path: seen.at(-1)?.path ?? "", sent: seen.at(-1)?.body };
}

const chat = (model: string, fields: Json = {}) => post("/v1/chat/completions", { model, ...fields });
const messages = (model: string, fields: Json = {}) =>
  post("/msgcompat/v1/messages", { model, max_tokens: 4_000, ...fields });

const FUNCTION = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
const TOOL = [{ name: "f", input_schema: { type: "object", properties: {} } }];
const CALL = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const FORMAT = { type: "json_schema", json_schema: { name: "place", schema: SCHEMA } };
const TOOL_LOOP = [
  { role: "user", content: "a" },
  { role: "assistant", content: null, tool_calls: [CALL] },
  { role: "tool", tool_call_id: "call_1", content: "x" },
  { role: "assistant", content: "done" },
  { role: "user", content: "b" },
];

/** What clients send, in both formats. */
const REQUESTS: readonly (readonly [what: string, chat: Json, messages: Json])[] = [
  ["no reasoning", { reasoning_effort: "none" }, { thinking: { type: "disabled" } }],
  ["the switch of reasoning", { thinking: { type: "disabled" } }, { thinking: { type: "disabled" } }],
  ["every effort", { reasoning_effort: "medium" }, { output_config: { effort: "medium" } }],
  ["the effort xhigh", { reasoning_effort: "xhigh" }, { output_config: { effort: "xhigh" } }],
  ["the effort minimal", { reasoning_effort: "minimal" }, { thinking: { type: "enabled", budget_tokens: 1_024 } }],
  ["a forced call", { tools: FUNCTION, tool_choice: "required" }, { tools: TOOL, tool_choice: { type: "any" } }],
  ["a forced tool with an effort", {
    tools: FUNCTION,
    tool_choice: { type: "function", function: { name: "f" } },
    reasoning_effort: "high",
  }, {
    tools: TOOL,
    tool_choice: { type: "tool", name: "f" },
    thinking: { type: "enabled", budget_tokens: 2_000 },
  }],
  ["penalties and stop sequences", { presence_penalty: 0.5, frequency_penalty: 0.5, stop: ["STOP"] }, {
    stop_sequences: ["STOP"],
  }],
  ["a schema", { response_format: FORMAT }, { output_config: { format: { type: "json_schema", schema: SCHEMA } } }],
  ["a limit", { max_completion_tokens: 50 }, {}],
  ["calls without reasoning", { tools: FUNCTION, messages: TOOL_LOOP }, {
    tools: TOOL,
    messages: [
      { role: "user", content: "a" },
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "x" }] },
      { role: "assistant", content: "done" },
      { role: "user", content: "b" },
    ],
  }],
];

for (const model of MODELS) {
  Deno.test(`${model} accepts what clients of both formats send`, async () => {
    for (const [what, inChat, inMessages] of REQUESTS) {
      for (const [send, fields] of [[chat, inChat], [messages, inMessages]] as const) {
        const { status, text } = await send(`own/${model}`, fields);
        assertEquals(status, 200, `${what}: ${text}`);
      }
    }
  });
}

Deno.test("DeepSeek gets the reasoning of earlier tool turns, and an empty one where a turn has none", async () => {
  const signed = (thinking: string) => ({ type: "thinking", thinking, signature: "" });
  const conversation = [
    { role: "user", content: "q" },
    { role: "assistant", content: [signed("R0"), { type: "text", text: "plain" }] },
    { role: "user", content: "a" },
    { role: "assistant", content: [signed("R1"), { type: "tool_use", id: "t1", name: "f", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "x" }] },
    { role: "assistant", content: [{ type: "tool_use", id: "t2", name: "f", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t2", content: "y" }] },
    { role: "assistant", content: [signed("R2"), { type: "text", text: "done" }] },
    { role: "user", content: "b" },
  ];
  const { sent, status } = await messages("own/deepseek-v4-pro", { tools: TOOL, messages: conversation });
  const reasoning = sent.messages.filter(({ role }: Json) => role === "assistant").map((each: Json) =>
    each.reasoning_content
  );
  assertEquals([status, reasoning], [200, [undefined, "R1", "", "R2"]]);

  const passed = await chat("own/deepseek-v4-pro", { tools: FUNCTION, messages: TOOL_LOOP });
  assertEquals([passed.sent.messages[1].reasoning_content, passed.sent.messages[3].reasoning_content], ["", ""]);
  const renamed = TOOL_LOOP.map((each) => each.role === "assistant" ? { ...each, reasoning: "because" } : each);
  const other = await chat("own/deepseek-v4-pro", { tools: FUNCTION, messages: renamed });
  assertEquals(other.sent.messages[1].reasoning_content, "because");
});

Deno.test("a forced call at DeepSeek switches reasoning off, named if an effort was asked for", async () => {
  const forced = { tools: FUNCTION, tool_choice: "required" };
  const silent = await chat("own/deepseek-flash", forced);
  assertEquals([silent.sent.thinking, silent.sent.tool_choice, silent.dropped], [
    { type: "disabled" },
    "required",
    [],
  ]);
  const named = await chat("own/deepseek-flash", { ...forced, reasoning_effort: "max" });
  assertEquals([named.sent.thinking, named.sent.reasoning_effort, named.dropped], [
    { type: "disabled" },
    undefined,
    ["reasoning_effort"],
  ]);
});

Deno.test("a call that Moonshot cannot force is left to the model, and named", async () => {
  const { sent, dropped } = await chat("own/kimi-k3.1-pro", { tools: FUNCTION, tool_choice: "required" });
  assertEquals([sent.tool_choice, dropped], ["auto", ["tool_choice"]]);
  const off = await chat("own/kimi-k2.6", { reasoning_effort: "none" });
  assertEquals([off.sent.thinking, off.sent.reasoning_effort, off.dropped], [{ type: "disabled" }, undefined, []]);
  const always = await chat("own/kimi-k3.1-pro", { reasoning_effort: "none" });
  assertEquals([always.sent.reasoning_effort, always.dropped], ["low", ["reasoning_effort"]]);
});

Deno.test("reasoning that GLM-5.3 cannot switch off gets its lowest effort, and is named", async () => {
  const { sent, dropped } = await chat("own/glm-5.3", { thinking: { type: "disabled" } });
  assertEquals([sent.thinking, sent.reasoning_effort, dropped], [undefined, "low", ["thinking"]]);
  const minimal = await chat("own/glm-5.3", { reasoning_effort: "minimal" });
  assertEquals([minimal.sent.reasoning_effort, minimal.dropped], ["low", ["reasoning_effort"]]);
});

Deno.test("stop sequences that xAI refuses are applied by the gateway, and penalties are named", async () => {
  const { sent, text, dropped } = await chat("own/grok-4.7", { stop: ["STOP"], presence_penalty: 0.5 });
  assertEquals([sent.stop, sent.presence_penalty, dropped], [undefined, undefined, ["presence_penalty"]]);
  assertEquals(JSON.parse(text).choices[0].message.content, "one two ");
});

Deno.test("a schema at DeepSeek goes to /responses, or becomes an instruction at a provider with chat only", async () => {
  const moved = await chat("both/deepseek-v4-pro", { response_format: FORMAT });
  assertEquals([moved.status, moved.path, moved.sent.text.format.type, moved.dropped], [
    200,
    "/v1/responses",
    "json_schema",
    [],
  ]);
  const kept = await chat("own/deepseek-v4-pro", { response_format: FORMAT });
  assertEquals([kept.sent.response_format, kept.dropped], [{ type: "json_object" }, ["response_format"]]);
  assertStringIncludes(kept.sent.messages[0].content, JSON.stringify(SCHEMA));
  assertEquals(kept.sent.messages.length, 2);
  const limited = await chat("own/deepseek-v4-pro", { max_completion_tokens: 50 });
  assertEquals([limited.sent.max_tokens, limited.sent.max_completion_tokens, limited.dropped], [50, undefined, []]);
});

Deno.test("a host of DeepSeek's models gets requests as they are", async () => {
  const fields = { tools: FUNCTION, tool_choice: "required", response_format: FORMAT, max_completion_tokens: 50 };
  const { sent, dropped } = await chat("host/deepseek-v4", fields);
  const { model: _model, messages: _messages, ...others } = sent;
  assertEquals([others, dropped], [fields, []]);
});

Deno.test("facts of the configuration hold at a compatible vendor, too", async () => {
  const { sent, dropped } = await chat("host/house-model", { tools: FUNCTION, tool_choice: "required" });
  assertEquals([sent.tool_choice, dropped], ["auto", ["tool_choice"]]);
});

Deno.test("the gateway and the vendor stop", async () => {
  await gateway.stop();
  await vendor.shutdown();
});
