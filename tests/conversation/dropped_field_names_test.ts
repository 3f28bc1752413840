import { assertEquals } from "@std/assert";
import { withCallerFieldName } from "../../src/conversation/contract/caller_field_error.ts";
import { CODECS } from "../support/formats.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { type GatewayError, invalidField } from "../../src/platform/lib/basics/gateway_error.ts";

const CASES:
  readonly (readonly [CallerFormatName, JsonObject, droppedFields: readonly string[], names: readonly string[]])[] = [
    ["chat", { max_tokens: 5 }, ["max_tokens"], ["max_tokens"]],
    ["chat", { max_completion_tokens: 5 }, ["max_tokens"], ["max_completion_tokens"]],
    ["chat", { messages: [] }, ["max_tokens", "top_k"], []],
    ["chat", { top_k: 5, reasoning: { effort: "low" } }, ["top_k", "reasoning"], ["top_k", "reasoning"]],
    ["content", { generation_config: { top_k: 5, topP: 1 } }, ["top_k", "top_p"], [
      "generation_config.top_k",
      "generation_config.topP",
    ]],
    ["messages", { metadata: { user_id: "u" } }, ["user"], ["metadata.user_id"]],
    [
      "messages",
      { messages: [{ role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "s" }] }] },
      ["reasoning_text", "reasoning_signature"],
      ["messages.content.thinking.thinking", "messages.content.signature"],
    ],
    ["responses", { input: [{ role: "user", content: [{ type: "input_image", detail: "low" }] }] }, ["image_detail"], [
      "input.content.input_image.detail",
    ]],
  ];

for (const [format, body, droppedFields, names] of CASES) {
  Deno.test(`droppedFields() names ${droppedFields} of ${format} ${JSON.stringify(body)} as the caller does`, () => {
    assertEquals(CODECS[format].caller.droppedFields(body, droppedFields), [...names]);
  });
}

Deno.test("withCallerFieldName() names the caller's field in place of the neutral one", () => {
  const body = { messages: [{ content: [{ type: "input_audio", input_audio: { data: "", format: "wav" } }] }] };
  const told = withCallerFieldName(invalidField("audio", "no ears"), CODECS.chat.caller, body) as GatewayError;
  assertEquals([told.details.field, told.message], [
    "messages.content.input_audio",
    'Cannot read "messages.content.input_audio": no ears',
  ]);
  const other = new TypeError("x");
  assertEquals(withCallerFieldName(other, CODECS.chat.caller, body), other);
});
