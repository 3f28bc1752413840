import { assertEquals } from "@std/assert";
import { familyModels } from "../../src/config/dev_models.ts";
import { PRICING, startTestGateway } from "../support/gateway.ts";
import { CHAT, CONTENT, type Json, MESSAGES, RESPONSES } from "./caller_protocols.ts";

const SERVED = /^sandbox-(?:openai|anthropic|google)$/;
const gateway = await startTestGateway({
  config: {
    models: familyModels(PRICING).filter(({ serves }) => SERVED.test((serves as Json)[0].provider)),
  },
});

interface Got {
  readonly status: number;
  readonly text: string;
  /** What the vendor received. */
  readonly sent: Json;
  readonly dropped: string;
}

async function post(protocol: typeof CHAT, model: string, fields: Json): Promise<Got> {
  const id = `sandbox/${model}`;
  const response = await fetch(`${gateway.address}${protocol.path(id)}`, {
    method: "POST",
    headers: protocol.headers(gateway.key),
    body: JSON.stringify({ ...protocol.body(id, "hi"), ...fields }),
  });
  const text = await response.text();
  const dropped = response.headers.get("x-service-dropped") ?? "";
  return { status: response.status, text, sent: gateway.sandbox.requests.at(-1)?.body, dropped };
}

Deno.test("a chat request that passes to a model without reasoning loses its effort, which is reported", async () => {
  const { status, text, sent, dropped } = await post(CHAT, "gpt-4.1", { reasoning_effort: "high" });
  assertEquals([status, sent.reasoning_effort, dropped], [200, undefined, "reasoning_effort"], text);
  const silent = await post(CHAT, "gpt-4.1", { reasoning_effort: "none" });
  assertEquals([silent.status, silent.sent.reasoning_effort, silent.dropped], [200, undefined, ""]);
});

Deno.test("a budget of OpenRouter's object that passes to a model without reasoning is left out and named", async () => {
  const { status, text, sent, dropped } = await post(CHAT, "gpt-4.1", { reasoning: { max_tokens: 1_500 } });
  assertEquals(
    [status, sent.reasoning, sent.reasoning_effort, dropped],
    [200, undefined, undefined, "reasoning"],
    text,
  );
});

Deno.test("a response request that passes to a model without reasoning loses its effort, which is reported", async () => {
  const { status, text, sent, dropped } = await post(RESPONSES, "gpt-4.1", {
    reasoning: { effort: "high", summary: "auto" },
    include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
    store: false,
  });
  assertEquals([status, sent.reasoning, sent.include], [200, undefined, ["message.output_text.logprobs"]], text);
  assertEquals(dropped, "reasoning");
  const silent = await post(RESPONSES, "gpt-4.1", { reasoning: { effort: "none" } });
  assertEquals([silent.status, silent.sent.reasoning, silent.dropped], [200, undefined, ""]);
});

Deno.test("adaptive thinking that passes to a model with budgets becomes a budget", async () => {
  const { status, text, sent, dropped } = await post(MESSAGES, "claude-haiku-4-5", {
    max_tokens: 4_000,
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort: "high" },
  });
  assertEquals(status, 200, text);
  assertEquals([sent.thinking, sent.output_config, dropped], [
    { type: "enabled", budget_tokens: 2_400 },
    undefined,
    "",
  ]);
});

Deno.test("adaptive thinking without room for a budget, or beside a forced call, is left out and named", async () => {
  const small = await post(MESSAGES, "claude-haiku-4-5", { max_tokens: 500, thinking: { type: "adaptive" } });
  assertEquals([small.status, small.sent.thinking, small.dropped], [200, undefined, "thinking"], small.text);
  const forced = await post(MESSAGES, "claude-haiku-4-5", {
    tools: [{ name: "f", input_schema: { type: "object" } }],
    tool_choice: { type: "any" },
    thinking: { type: "adaptive" },
  });
  assertEquals([forced.status, forced.sent.thinking, forced.dropped], [200, undefined, "thinking"], forced.text);
  const loop = await post(MESSAGES, "claude-haiku-4-5", {
    tools: [{ name: "f", input_schema: { type: "object" } }],
    thinking: { type: "adaptive" },
    messages: [
      { role: "user", content: "hi" },
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "fine" }] },
    ],
  });
  assertEquals([loop.status, loop.sent.thinking, loop.dropped], [200, { type: "disabled" }, "thinking"], loop.text);
});

Deno.test("an effort that passes to a model without efforts is left out and named", async () => {
  const { status, text, sent, dropped } = await post(MESSAGES, "claude-haiku-4-5", {
    output_config: { effort: "max" },
  });
  assertEquals([status, sent.output_config, dropped], [200, undefined, "output_config.effort"], text);
});

Deno.test("a level of thinking that passes to a model with budgets becomes a budget", async () => {
  const { status, text, sent, dropped } = await post(CONTENT, "gemini-2.5-flash-lite", {
    generationConfig: { maxOutputTokens: 10_000, thinkingConfig: { thinkingLevel: "LOW", includeThoughts: true } },
  });
  assertEquals(status, 200, text);
  assertEquals([sent.generationConfig.thinkingConfig, dropped], [{ includeThoughts: true, thinkingBudget: 1_000 }, ""]);
});

Deno.test("a budget of 0 that passes to a model that always thinks becomes its lowest level, and is named", async () => {
  for (const model of ["gemini-4-argon", "gemini-3.8-flash"]) {
    const { status, text, sent, dropped } = await post(CONTENT, model, {
      generationConfig: { thinkingConfig: { thinkingBudget: 0 } },
    });
    assertEquals(status, 200, text);
    assertEquals(sent.generationConfig.thinkingConfig, { thinkingLevel: "LOW" });
    assertEquals(dropped, "generationConfig.thinkingConfig.thinkingBudget");
  }
});

Deno.test("a budget out of a model's range that passes becomes the nearest one, and is named", async () => {
  const { status, text, sent, dropped } = await post(CONTENT, "gemini-2.5-flash-lite", {
    generationConfig: { thinkingConfig: { thinkingBudget: 100 } },
  });
  assertEquals([status, sent.generationConfig.thinkingConfig], [200, { thinkingBudget: 512 }], text);
  assertEquals(dropped, "generationConfig.thinkingConfig.thinkingBudget");
});

Deno.test("sampling that passes beside thinking that becomes a budget is left out and named", async () => {
  const { status, text, sent, dropped } = await post(MESSAGES, "claude-haiku-4-5", {
    thinking: { type: "adaptive" },
    temperature: 0.7,
    top_k: 5,
  });
  assertEquals(
    [status, sent.temperature, sent.top_k, dropped],
    [200, undefined, undefined, "temperature, top_k"],
    text,
  );
});

Deno.test("a schema that passes beside functions to a model without both is left out and named", async () => {
  const { status, text, sent, dropped } = await post(CONTENT, "gemini-2.5-flash-lite", {
    tools: [{ functionDeclarations: [{ name: "f", parametersJsonSchema: { type: "object" } }] }],
    generationConfig: { responseMimeType: "application/json", responseJsonSchema: { type: "object" }, topP: 0.5 },
  });
  assertEquals([status, sent.generationConfig], [200, { topP: 0.5 }], text);
  assertEquals(dropped, "generationConfig.responseJsonSchema, generationConfig.responseMimeType");
});

Deno.test("the gateway of these tests stops", () => gateway.stop());
