import { assert, assertEquals } from "@std/assert";
import { PRICING, startTestGateway, textModel } from "../support/gateway.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const seen: Json[] = [];

/** Anthropic as it answers in November 2026: what a model refuses is a 400 that names the field. */
const vendor = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
  const body = await request.json();
  seen.push(body);
  const field = refusedField(body);
  if (field !== null) {
    const error = { type: "invalid_request_error", message: `${field}: not supported for this model` };
    return Response.json({ type: "error", error }, { status: 400 });
  }
  return Response.json({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: body.model,
    content: [{ type: "text", text: "ok" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  });
});

const WITHOUT_SAMPLING = /fable-5|mythos-5|opus-4-[78]|opus-5|sonnet-5|haiku-5/;
const ALWAYS_THINKS = /fable|mythos|opus-5-5/;
const WITHOUT_FORCED = /fable-5-[12]|opus-5-5|sonnet-5-5/;
const WITH_SYSTEM_TURNS = /fable-5|opus-4-8|opus-5|sonnet-5-5|haiku-5-5/;

function refusedField(body: Json): string | null {
  const { model, thinking, tool_choice } = body;
  if (WITHOUT_SAMPLING.test(model)) {
    const name = ["temperature", "top_p", "top_k"].find((each) => body[each] !== undefined);
    if (name !== undefined) return name;
    if (thinking?.type === "enabled") return "thinking.budget_tokens";
  }
  if (body.temperature !== undefined && body.top_p !== undefined) return "top_p";
  if (ALWAYS_THINKS.test(model) && ["disabled", "between_tools"].includes(thinking?.type)) return "thinking.type";
  if (model.includes("sonnet-5-5") && thinking?.type === "disabled") return "thinking.type";
  if (thinking?.type === "between_tools" && !model.includes("sonnet-5-5")) return "thinking.type";
  const effort = body.output_config?.effort;
  const isOff = thinking?.type === "disabled" || thinking?.type === "between_tools";
  if (isOff && /opus-5|sonnet-5-5|haiku-5/.test(model) && ["xhigh", "max"].includes(effort)) {
    return "output_config.effort";
  }
  if (effort === "xhigh" && model.includes("4-6")) return "output_config.effort";
  const isForced = tool_choice?.type === "any" || tool_choice?.type === "tool";
  if (isForced && WITHOUT_FORCED.test(model)) return "tool_choice";
  if (isForced && /4-[5-7]/.test(model) && thinking !== undefined && !isOff) return "tool_choice";
  if (body.messages.at(-1).role === "assistant" && !model.includes("4-5")) return "messages";
  const hasSystemTurn = body.messages.some(({ role }: Json) => role === "system");
  return hasSystemTurn && !WITH_SYSTEM_TURNS.test(model) ? "messages.role" : null;
}

const MODELS = [
  "claude-fable-5",
  "claude-fable-5-2",
  "claude-opus-5-5",
  "claude-opus-5",
  "claude-sonnet-5-5",
  "claude-haiku-5-5",
  "claude-opus-4-8",
  "claude-opus-4-7",
  "claude-opus-4-6",
  "claude-sonnet-4-6",
  "claude-haiku-4-5",
];
const gateway = await startTestGateway({
  config: {
    providers: {
      anthropic: { kind: "anthropic", base_url: `http://127.0.0.1:${vendor.addr.port}`, api_key: "k" },
    },
    models: MODELS.map((model) => ({ ...textModel(`anthropic/${model}`, ["anthropic"]), pricing: PRICING })),
  },
});

interface Got {
  readonly status: number;
  readonly text: string;
  readonly dropped: readonly string[];
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
  return { status: response.status, text: await response.text(), dropped, sent: seen.at(-1) };
}

const chat = (model: string, fields: Json) =>
  post("/v1/chat/completions", { model: `anthropic/${model}`, max_tokens: 8_000, ...fields });
const messages = (model: string, fields: Json) =>
  post("/msgcompat/v1/messages", { model: `anthropic/${model}`, max_tokens: 8_000, ...fields });

const FUNCTION = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
const TOOL = [{ name: "f", input_schema: { type: "object", properties: {} } }];

/** What clients send, in both formats. */
const REQUESTS: readonly (readonly [what: string, chat: Json, messages: Json])[] = [
  ["sampling", { temperature: 0.3, top_p: 0.9 }, { temperature: 0.3, top_p: 0.9, top_k: 5 }],
  ["default sampling", { temperature: 1 }, { temperature: 1 }],
  ["no reasoning", { reasoning_effort: "none" }, { thinking: { type: "disabled" } }],
  ["no reasoning between tools", { reasoning_effort: "none", tools: FUNCTION }, {
    thinking: { type: "between_tools" },
  }],
  ["no reasoning at the highest effort", {}, { thinking: { type: "disabled" }, output_config: { effort: "max" } }],
  ["a budget", { reasoning: { max_tokens: 4_000 } }, { thinking: { type: "enabled", budget_tokens: 4_000 } }],
  ["the effort xhigh", { reasoning_effort: "xhigh" }, { output_config: { effort: "xhigh" } }],
  ["a forced call", { tools: FUNCTION, tool_choice: "required" }, { tools: TOOL, tool_choice: { type: "any" } }],
  ["a forced tool", { tools: FUNCTION, tool_choice: { type: "function", function: { name: "f" } } }, {
    tools: TOOL,
    tool_choice: { type: "tool", name: "f" },
  }],
  ["a forced call with reasoning", { tools: FUNCTION, tool_choice: "required", reasoning_effort: "high" }, {
    tools: TOOL,
    tool_choice: { type: "any" },
    thinking: { type: "adaptive" },
  }],
  ["an answer that the caller began", {
    messages: [{ role: "user", content: "a" }, { role: "assistant", content: "b" }],
  }, { messages: [{ role: "user", content: "a" }, { role: "assistant", content: "b" }] }],
  ["a system message in the middle", {
    messages: [{ role: "user", content: "a" }, { role: "system", content: "b" }, { role: "user", content: "c" }],
  }, { messages: [{ role: "user", content: "a" }, { role: "system", content: "b" }, { role: "user", content: "c" }] }],
];

for (const [what, ofChat, ofMessages] of REQUESTS) {
  Deno.test(`no Claude model is sent what it refuses: ${what}`, async () => {
    for (const model of MODELS) {
      if (model === "claude-haiku-4-5" && ofMessages.thinking?.type === "adaptive") continue; // refused by intent
      for (
        const [format, got] of [["chat", await chat(model, ofChat)], ["messages", await messages(model, ofMessages)]]
      ) {
        const { status, text, sent } = got as Got;
        assertEquals(status, 200, `${format} to ${model}: ${text} for ${JSON.stringify(sent)}`);
      }
    }
  });
}

Deno.test("what a Claude model cannot do is named in the caller's words", async () => {
  assertEquals((await chat("claude-opus-5-5", { reasoning_effort: "none" })).dropped, ["reasoning_effort"]);
  assertEquals((await chat("claude-opus-5-5", { tools: FUNCTION, tool_choice: "required" })).dropped, ["tool_choice"]);
  assertEquals((await messages("claude-fable-5-2", { thinking: { type: "disabled" } })).dropped, ["thinking"]);
  assertEquals((await messages("claude-opus-4-8", { temperature: 0.5 })).dropped, ["temperature"]);
  const forced = await messages("claude-sonnet-5-5", { tools: TOOL, tool_choice: { type: "tool", name: "f" } });
  assertEquals([forced.sent.tool_choice, forced.dropped], [{ type: "auto" }, ["tool_choice"]]);
});

Deno.test("a call that cannot be forced is asked for in the instructions", async () => {
  const { sent } = await chat("claude-sonnet-5-5", {
    tools: FUNCTION,
    tool_choice: { type: "function", function: { name: "f" } },
  });
  assertEquals(sent.system, 'Call the tool "f" in your answer.');
});

Deno.test("thinking is switched off as each model allows it, and nothing is named", async () => {
  for (const [model, type] of [["claude-sonnet-5-5", "between_tools"], ["claude-haiku-5-5", "disabled"]]) {
    const got = await chat(String(model), { reasoning_effort: "none" });
    assertEquals([got.sent.thinking, got.dropped], [{ type }, []]);
  }
});

Deno.test("a budget becomes an effort where a model takes no budget", async () => {
  const { sent, dropped } = await messages("claude-opus-5", { thinking: { type: "enabled", budget_tokens: 1_100 } });
  assertEquals([sent.thinking, sent.output_config, dropped], [{ type: "adaptive" }, { effort: "low" }, [
    "thinking.budget_tokens",
  ]]);
});

Deno.test("what a model takes passes unchanged", async () => {
  const fields = { thinking: { type: "enabled", budget_tokens: 2_000 }, system: "s", metadata: { user_id: "u" } };
  const { sent, dropped } = await messages("claude-sonnet-4-6", fields);
  const { model: _model, messages: _messages, max_tokens: _limit, ...others } = sent;
  assertEquals([others, dropped], [fields, []]);
  const kept = await messages("claude-opus-4-8", {
    messages: [{ role: "user", content: "a" }, { role: "system", content: "b" }, { role: "user", content: "c" }],
  });
  assert(kept.sent.messages.some(({ role }: Json) => role === "system"));
});

Deno.test("the gateway and the vendor stop", async () => {
  await gateway.stop();
  await vendor.shutdown();
});
