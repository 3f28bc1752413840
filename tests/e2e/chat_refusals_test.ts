import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { PRICING, startTestGateway, textModel } from "../support/gateway.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

interface Seen {
  readonly path: string;
  readonly body: Json;
}

const seen: Seen[] = [];

/** OpenAI as it answers in November 2026: what its models refuse is a 400 that names the field. */
const vendor = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
  const body = await request.json();
  const { pathname } = new URL(request.url);
  seen.push({ path: pathname, body });
  const param = pathname.endsWith("/responses") ? refusedAtResponses(body) : refusedAtChat(body);
  if (param !== null) {
    const error = { message: `Unsupported: ${param}`, type: "invalid_request_error", param, code: "unsupported_value" };
    return Response.json({ error }, { status: 400 });
  }
  return pathname.endsWith("/responses") ? Response.json(responseTo(body)) : Response.json(completionTo(body));
});

const WITHOUT_NONE = ["gpt-6-astra", "gpt-6.1-sol", "gpt-6.2-sol"];

function defaultEffort(model: string): string {
  return model.startsWith("gpt-5.4") ? "none" : "medium";
}

function refusedAtChat(body: Json): string | null {
  if (body.model.startsWith("gpt-4")) return null;
  const effort = body.reasoning_effort ?? defaultEffort(body.model);
  if (effort === "max" || effort === "minimal") return "reasoning_effort";
  if (effort === "none" && WITHOUT_NONE.includes(body.model)) return "reasoning_effort";
  if (body.tools?.some((tool: Json) => tool.type === "function") && effort !== "none") return "reasoning_effort";
  if (body.max_tokens !== undefined) return "max_tokens";
  if (effort === "none") return null;
  return ["stop", "temperature", "top_p", "logprobs"].find((name) => body[name] !== undefined) ?? null;
}

function refusedAtResponses(body: Json): string | null {
  if (body.model.startsWith("gpt-4")) return null;
  const effort = body.reasoning?.effort ?? defaultEffort(body.model);
  if (effort === "minimal" || (effort === "none" && WITHOUT_NONE.includes(body.model))) return "reasoning.effort";
  if (body.stop !== undefined || body.n !== undefined) return "stop";
  return effort === "none" ? null : ["temperature", "top_p"].find((name) => body[name] !== undefined) ?? null;
}

function responseTo({ model, tools, input }: Json): Json {
  const answersTool = JSON.stringify(input).includes("function_call_output");
  const call = {
    id: "fc_1",
    type: "function_call",
    status: "completed",
    call_id: "call_1",
    name: "f",
    arguments: "{}",
  };
  const reasoning = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "sealed-1" };
  const text = { type: "output_text", text: "one two STOP three", annotations: [] };
  const message = { id: "msg_1", type: "message", status: "completed", role: "assistant", content: [text] };
  return {
    id: "resp_1",
    object: "response",
    created_at: 1_700_000_000,
    status: "completed",
    model,
    output: tools !== undefined && !answersTool ? [reasoning, call] : [message],
    usage: {
      input_tokens: 10,
      output_tokens: 5,
      total_tokens: 15,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
    error: null,
    incomplete_details: null,
  };
}

function completionTo({ model }: Json): Json {
  const message = { role: "assistant", content: "one two STOP three" };
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  };
}

const base_url = `http://127.0.0.1:${vendor.addr.port}/v1`;
const MODELS = ["gpt-4.1", "gpt-5.4", "gpt-5.5", "gpt-5.6-terra", "gpt-6-sol", "gpt-6-astra", "gpt-6.2-sol"];
const served = (provider: string, model: string) => ({
  ...textModel(`${provider}/${model}`, [provider]),
  pricing: PRICING,
  serves: [{ provider, model }],
});
const provider = { kind: "openai", base_url, api_key: "k", quirks: [] };
const gateway = await startTestGateway({
  config: {
    providers: {
      both: { ...provider, speaks: "both" },
      chat: { ...provider, speaks: "chat" },
      relay: { kind: "openai", base_url, api_key: "k" },
      stated: { ...provider, speaks: "both", facts: { "gpt-9*": { sampling_support: "never" } } },
    },
    models: [
      ...["both", "chat", "relay"].flatMap((name) => MODELS.map((model) => served(name, model))),
      served("stated", "gpt-9-nova"),
      { ...served("chat", "own-model"), facts: { can_reason: true, efforts: ["high"] } },
    ],
  },
});

const TOOLS = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];

async function chat(
  model: string,
  fields: Json,
): Promise<{ status: number; body: Json; dropped: string; sent: Seen[] }> {
  seen.length = 0;
  const response = await fetch(`${gateway.address}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }], ...fields }),
  });
  const body = await response.json();
  return { status: response.status, body, dropped: response.headers.get("x-service-dropped") ?? "", sent: [...seen] };
}

for (const model of ["gpt-5.5", "gpt-5.6-terra", "gpt-6-sol", "gpt-6-astra", "gpt-6.2-sol"]) {
  Deno.test(`chat completions with a function tool at ${model} are served by /responses, and nothing is dropped`, async () => {
    const { status, body, dropped, sent } = await chat(`both/${model}`, { tools: TOOLS });
    assertEquals([status, sent.map(({ path }) => path), dropped], [200, ["/v1/responses"], ""], JSON.stringify(body));
    const [call] = body.choices[0].message.tool_calls;
    assertEquals([call.function.name, body.choices[0].finish_reason], ["f", "tool_calls"]);

    const messages = [
      { role: "user", content: "hi" },
      body.choices[0].message,
      { role: "tool", tool_call_id: call.id, content: "42" },
    ];
    const second = await chat(`both/${model}`, { tools: TOOLS, messages });
    assertEquals([second.status, second.dropped], [200, ""]);
    const { input } = second.sent[0]!.body;
    assert(
      input.some((item: Json) => item.type === "reasoning" && item.encrypted_content === "sealed-1"),
      JSON.stringify(input),
    );
  });
}

Deno.test("chat completions at GPT-5.4 leave chat only when an effort is set", async () => {
  assertEquals((await chat("both/gpt-5.4", { tools: TOOLS })).sent[0]?.path, "/v1/chat/completions");
  const { status, sent, dropped } = await chat("both/gpt-5.4", { tools: TOOLS, reasoning_effort: "high" });
  assertEquals([status, sent[0]?.path, sent[0]?.body.reasoning, dropped], [
    200,
    "/v1/responses",
    { effort: "high" },
    "",
  ]);
});

Deno.test("an effort that only /responses has moves the request there", async () => {
  const { status, sent, dropped } = await chat("both/gpt-6-sol", { reasoning_effort: "max" });
  assertEquals([status, sent[0]?.path, sent[0]?.body.reasoning, dropped], [
    200,
    "/v1/responses",
    { effort: "max" },
    "",
  ]);
});

Deno.test("stop sequences of a reasoning model move to /responses, and the gateway cuts the text", async () => {
  for (const provider of ["both", "chat"]) {
    const { status, body, sent, dropped } = await chat(`${provider}/gpt-5.6-terra`, { stop: ["STOP"] });
    const path = provider === "both" ? "/v1/responses" : "/v1/chat/completions";
    assertEquals([status, sent[0]?.path, sent[0]?.body.stop, dropped], [200, path, undefined, ""]);
    assertEquals(body.choices[0].message.content, "one two ");
  }
});

Deno.test("a request with tools that needs several choices stays in chat without reasoning, and says so", async () => {
  const { status, sent, dropped } = await chat("both/gpt-6-sol", { tools: TOOLS, n: 2, reasoning_effort: "low" });
  assertEquals([status, sent[0]?.path, sent[0]?.body.reasoning_effort], [200, "/v1/chat/completions", "none"]);
  assertEquals([sent[0]?.body.n, dropped], [2, "reasoning_effort"]);
  const refused = await chat("both/gpt-6.2-sol", { tools: TOOLS, n: 2 });
  assertEquals([refused.status, refused.sent.length, refused.body.error.param], [400, 0, "n"]);
  assertStringIncludes(refused.body.error.message, '"gpt-6.2-sol" refuses function tools');
});

Deno.test("at a provider with chat only, function tools switch reasoning off, named if another effort was asked for", async () => {
  const silent = await chat("chat/gpt-5.6-terra", { tools: TOOLS });
  assertEquals([silent.status, silent.sent[0]?.body.reasoning_effort, silent.dropped], [200, "none", ""]);
  const named = await chat("chat/gpt-5.6-terra", { tools: TOOLS, reasoning_effort: "high" });
  assertEquals([named.status, named.sent[0]?.body.reasoning_effort, named.dropped], [200, "none", "reasoning_effort"]);
  const refused = await chat("chat/gpt-6.2-sol", { tools: TOOLS });
  assertEquals([refused.status, refused.sent.length, refused.body.error.param], [400, 0, "tools"]);
  assertStringIncludes(refused.body.error.message, "speaks: both");
});

Deno.test("sampling settings, efforts and limits that a model refuses are changed to what it takes, and named", async () => {
  const { status, sent, dropped } = await chat("both/gpt-6.2-sol", {
    temperature: 0.2,
    top_p: 1,
    max_tokens: 50,
    reasoning_effort: "none",
  });
  assertEquals([status, sent[0]?.path], [200, "/v1/chat/completions"]);
  const { temperature, top_p, max_tokens, max_completion_tokens, reasoning_effort } = sent[0]!.body;
  assertEquals([temperature, top_p, max_tokens, max_completion_tokens, reasoning_effort], [
    undefined,
    undefined,
    undefined,
    50,
    "low",
  ]);
  assertEquals(dropped, "reasoning_effort, temperature");
});

Deno.test("responses are adapted to the model alike", async () => {
  seen.length = 0;
  const response = await fetch(`${gateway.address}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "both/gpt-6.2-sol",
      input: "hi",
      reasoning: { effort: "none", summary: "auto" },
      temperature: 0.5,
    }),
  });
  assertEquals([response.status, seen[0]?.body.reasoning], [200, { effort: "low", summary: "auto" }]);
  assertEquals(response.headers.get("x-service-dropped"), "reasoning.effort, temperature");
  await response.body?.cancel();
});

Deno.test("a request that nothing refuses keeps its bytes, and a relay gets every request as it is", async () => {
  for (
    const [model, fields] of [["both/gpt-4.1", { tools: TOOLS, temperature: 0.3 }], ["relay/gpt-4.1", { stop: ["x"] }]]
  ) {
    const { sent, dropped } = await chat(String(model), fields as Json);
    const { model: _name, messages: _messages, ...others } = sent[0]!.body;
    assertEquals([sent[0]?.path, others, dropped], ["/v1/chat/completions", fields, ""]);
  }
  const relayed = await chat("relay/gpt-6-sol", { tools: TOOLS, reasoning_effort: "high" });
  assertEquals(relayed.sent[0]?.body.reasoning_effort, "high");
});

Deno.test("a model that does not exist yet is known by the facts of the configuration", async () => {
  const stated = await chat("stated/gpt-9-nova", { temperature: 0.2, reasoning_effort: "none" });
  assertEquals([stated.status, stated.sent[0]?.body.temperature], [200, undefined]);
  assertStringIncludes(stated.dropped, "temperature");
  const own = await chat("chat/own-model", { reasoning_effort: "low" });
  assertEquals([own.status, own.sent[0]?.body.reasoning_effort, own.dropped], [200, "high", "reasoning_effort"]);
});

Deno.test("messages with tools and a stop sequence go to /responses too", async () => {
  seen.length = 0;
  const response = await fetch(`${gateway.address}/msgcompat/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": gateway.key, "msg-version": "2023-06-01", "content-type": "application/json" },
    body: JSON.stringify({
      model: "both/gpt-6-sol",
      max_tokens: 100,
      stop_sequences: ["STOP"],
      tools: [{ name: "f", input_schema: { type: "object", properties: {} } }],
      messages: [{ role: "user", content: "hi" }],
    }),
  });
  assertEquals([response.status, seen[0]?.path], [200, "/v1/responses"]);
  await response.body?.cancel();
});

Deno.test("the gateway and the vendor stop", async () => {
  await gateway.stop();
  await vendor.shutdown();
});
