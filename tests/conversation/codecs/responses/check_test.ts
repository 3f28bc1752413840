import { assertEquals, assertThrows } from "@std/assert";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { responses } from "../../../../src/conversation/codecs/responses/mod.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";

const USER = { role: "user", content: "hi" };
const CALL = { type: "function_call", call_id: "c1", name: "f", arguments: "{}" };

function fieldOf(body: unknown): string | undefined {
  const error = assertThrows(() => responses.caller.check(body as JsonObject), GatewayError);
  assertEquals(error.code, "invalid_request");
  return error.details.field;
}

Deno.test("checkRequest() names the field that is missing, of the wrong type or out of range", () => {
  const wrong: readonly (readonly [string, JsonObject])[] = [
    ["model", { model: undefined }],
    ["model", { model: "" }],
    ["model", { model: 7 }],
    ["model", { model: "x".repeat(10_000) }],
    ["input", { input: undefined }],
    ["input", { input: [] }],
    ["input", { input: {} }],
    ["input[0]", { input: ["hi"] }],
    ["input[1].role", { input: [USER, { role: "wizard", content: "x" }] }],
    ["input[0].content", { input: [{ role: "user", content: null }] }],
    ["input[0].content[1]", { input: [{ role: "user", content: [{ type: "input_text", text: "a" }, "b"] }] }],
    ["input[0].content[0].text", { input: [{ role: "user", content: [{ type: "input_text" }] }] }],
    ["input[0].content[0].image_url", { input: [{ role: "user", content: [{ type: "input_image" }] }] }],
    ["input[0].content[0].image_url", {
      input: [{ role: "user", content: [{ type: "input_image", image_url: "data:text/html;base64,AAAA" }] }],
    }],
    ["input[0].call_id", { input: [{ type: "function_call", name: "f", arguments: "{}" }] }],
    ["input[0].name", { input: [{ type: "function_call", call_id: "c", arguments: "{}" }] }],
    ["input[0].arguments", { input: [{ type: "function_call", call_id: "c", name: "f", arguments: {} }] }],
    ["input[0].input", { input: [{ type: "custom_tool_call", call_id: "c", name: "f" }] }],
    ["input[1].output", { input: [CALL, { type: "function_call_output", call_id: "c1", output: null }] }],
    ["input[0].summary", { input: [{ type: "reasoning", summary: "text" }] }],
    ["input[0].type", { input: [{ type: 5 }] }],
    ["stream", { stream: "true" }],
    ["parallel_tool_calls", { parallel_tool_calls: 1 }],
    ["instructions", { instructions: ["a"] }],
    ["metadata", { metadata: "a" }],
    ["temperature", { temperature: "0.5" }],
    ["temperature", { temperature: 2.01 }],
    ["temperature", { temperature: JSON.parse("1e999") }],
    ["top_p", { top_p: -0.1 }],
    ["top_logprobs", { top_logprobs: 21 }],
    ["max_output_tokens", { max_output_tokens: 0 }],
    ["max_output_tokens", { max_output_tokens: 1.5 }],
    ["max_output_tokens", { max_output_tokens: JSON.parse("-1e999") }],
    ["include", { include: "reasoning.encrypted_content" }],
    ["reasoning", { reasoning: "high" }],
    ["reasoning.effort", { reasoning: { effort: 3 } }],
    ["text.format", { text: { format: "json" } }],
    ["text.format.name", { text: { format: { type: "json_schema", schema: {} } } }],
    ["text.format.schema", { text: { format: { type: "json_schema", name: "n" } } }],
    ["text.verbosity", { text: { verbosity: 1 } }],
    ["tools", { tools: {} }],
    ["tools[0]", { tools: [{}] }],
    ["tools[0].name", { tools: [{ type: "function" }] }],
    ["tools[0].parameters", { tools: [{ type: "function", name: "f", parameters: [] }] }],
    ["tools[0].tools[0].name", { tools: [{ type: "namespace", name: "n", tools: [{ type: "function" }] }] }],
    ["tool_choice", { tool_choice: "any" }],
    ["tool_choice", { tool_choice: 1 }],
    ["tool_choice.name", { tool_choice: { type: "function" } }],
    ["tool_choice.name", {
      tools: [{ type: "function", name: "f" }],
      tool_choice: { type: "function", name: "g" },
    }],
  ];
  for (const [field, change] of wrong) {
    assertEquals(fieldOf({ model: "m", input: "hi", ...change }), field, JSON.stringify(change).slice(0, 200));
  }
});

Deno.test("checkRequest() rejects an output without a call, and names its id", () => {
  const orphan = { type: "function_call_output", call_id: "lost", output: "x" };
  const error = assertThrows(
    () => responses.caller.check({ model: "m", input: [USER, CALL, orphan] }),
    GatewayError,
    '"lost"',
  );
  assertEquals(error.details.field, "input[2].call_id");
});

Deno.test("checkRequest() accepts an output whose call may be stored by the vendor", () => {
  const orphan = { type: "function_call_output", call_id: "c9", output: "x" };
  responses.caller.check({ model: "m", previous_response_id: "resp_1", input: [orphan] });
  responses.caller.check({ model: "m", conversation: { id: "conv_1" }, input: [orphan] });
  responses.caller.check({ model: "m", input: [{ type: "item_reference", id: "fc_1" }, orphan] });
  responses.caller.check({ model: "m", input: [{ type: "local_shell_call", call_id: "c9" }, orphan] });
});

Deno.test("checkRequest() accepts unknown fields, items, parts and tools", () => {
  responses.caller.check({
    model: "m",
    client_metadata: { a: 1 },
    extra_body: { provider: { type: "x" } },
    constructor: 1,
    input: [
      { role: "user", content: [{ type: "input_hologram", data: 1 }], internal_chat_message_metadata_passthrough: {} },
      { type: "reasoning", summary: [], content: null, encrypted_content: null },
      { type: "telepathy_call", anything: true },
      { type: "additional_tools", role: "developer", tools: [{ type: "function", name: "late" }] },
    ],
    tools: [{ type: "web_search" }, { type: "telepathy" }],
    tool_choice: { type: "function", name: "late" },
    temperature: null,
    stream: null,
  });
  responses.caller.check({ model: "m", prompt: { id: "pmpt_1" } });
  responses.caller.check(JSON.parse('{"model":"m","input":"hi","__proto__":{"stream":"x"}}'));
});
