import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { chat } from "../../../../src/conversation/codecs/chat/mod.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";

const USER = { role: "user", content: "Hi" };
const CALL = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
const TOOLS = [{ type: "function", function: { name: "f" } }];

function body(fields: JsonObject): JsonObject {
  return { model: "prov/m", messages: [USER], ...fields };
}

function asked(...messages: unknown[]): JsonObject {
  return body({ messages });
}

/** The field named by the error. The reader must accept what the check accepts. */
function refusedField(request: unknown): string | undefined {
  const error = assertThrows(() => chat.caller.check(request as JsonObject), GatewayError);
  assertThrows(() => readChecked(chat.caller, request as JsonObject), GatewayError);
  assertEquals(error.code, "invalid_request");
  assertEquals(error.status, 400);
  return error.details.field;
}

const REFUSED: readonly (readonly [why: string, request: unknown, field: string])[] = [
  ["null", null, "body"],
  ["a list", [], "body"],
  ["text", "x", "body"],
  ["no model", { messages: [USER] }, "model"],
  ["an empty model", body({ model: "" }), "model"],
  ["a model of 10 KB", body({ model: "m".repeat(10_240) }), "model"],
  ["no messages", { model: "m" }, "messages"],
  ["messages as an object", body({ messages: {} }), "messages"],
  ["an empty list of messages", asked(), "messages"],
  ["a message that is text", asked(USER, "Hi"), "messages[1]"],
  ["the role wizard", asked(USER, { role: "wizard", content: "Hi" }), "messages[1].role"],
  ["a user's null", asked({ role: "user", content: null }), "messages[0].content"],
  ["a tool's null", asked({ role: "tool", content: null, tool_call_id: "x" }), "messages[0].content"],
  ["an assistant who says nothing", asked(USER, { role: "assistant", content: null }), "messages[1].content"],
  ["a number as content", asked({ role: "user", content: 1 }), "messages[0].content"],
  ["a part that is text", asked({ role: "user", content: ["Hi"] }), "messages[0].content[0]"],
  ["a part without a kind", asked({ role: "user", content: [{}] }), "messages[0].content[0].type"],
  [
    "text that is a number",
    asked({ role: "user", content: [{ type: "text", text: 1 }] }),
    "messages[0].content[0].text",
  ],
  ["an image without address", asked(image(undefined)), "messages[0].content[0].image_url.url"],
  ["an image of bad base64", asked(image("data:image/png;base64,%%%")), "messages[0].content[0].image_url.url"],
  ["an image of text/html", asked(image("data:text/html;base64,AAAA")), "messages[0].content[0].image_url.url"],
  [
    "audio without format",
    asked({ role: "user", content: [{ type: "input_audio", input_audio: { data: "AAAA" } }] }),
    "messages[0].content[0].input_audio.format",
  ],
  ["a call without name", asked(USER, assistant({ id: "a", function: {} })), "messages[1].tool_calls[0].function.name"],
  [
    "a call with a number as arguments",
    asked(USER, assistant({ id: "a", function: { name: "f", arguments: 1 } })),
    "messages[1].tool_calls[0].function.arguments",
  ],
  ["calls that are an object", asked(USER, { role: "assistant", tool_calls: {} }), "messages[1].tool_calls"],
  [
    "a result of no call",
    asked(USER, assistant(CALL), { role: "tool", content: "ok", tool_call_id: "call_2" }),
    "messages[2].tool_call_id",
  ],
  ["a result without id", asked(USER, assistant(CALL), { role: "tool", content: "ok" }), "messages[2].tool_call_id"],
  ["a temperature of 2.01", body({ temperature: 2.01 }), "temperature"],
  ["a temperature as text", body({ temperature: "0.5" }), "temperature"],
  ["1e999", JSON.parse('{"model":"m","messages":[{"role":"user","content":"x"}],"temperature":1e999}'), "temperature"],
  ["-1e999 as seed", JSON.parse('{"model":"m","messages":[{"role":"user","content":"x"}],"seed":-1e999}'), "seed"],
  ["a top_p of -0.1", body({ top_p: -0.1 }), "top_p"],
  ["a penalty of 3", body({ presence_penalty: 3 }), "presence_penalty"],
  ["n as text", body({ n: "1" }), "n"],
  ["n of 0", body({ n: 0 }), "n"],
  ["max_tokens of 0", body({ max_tokens: 0 }), "max_tokens"],
  ["max_tokens of 1.5", body({ max_tokens: 1.5 }), "max_tokens"],
  ["max_completion_tokens of -1", body({ max_completion_tokens: -1 }), "max_completion_tokens"],
  ["top_logprobs of 21", body({ top_logprobs: 21 }), "top_logprobs"],
  ["an endless logit bias", body({ logit_bias: { "1": Infinity } }), "logit_bias"],
  ["stream as text", body({ stream: "true" }), "stream"],
  ["stream_options as text", body({ stream_options: "x" }), "stream_options"],
  ["include_usage as text", body({ stream_options: { include_usage: "x" } }), "stream_options.include_usage"],
  ["a number among stops", body({ stop: ["a", 1] }), "stop[1]"],
  ["stop as a number", body({ stop: 1 }), "stop"],
  ["a number as user", body({ user: 1 }), "user"],
  ["a format without type", body({ response_format: {} }), "response_format.type"],
  ["a schema format without schema", body({ response_format: { type: "json_schema" } }), "response_format.json_schema"],
  ["tools as an object", body({ tools: {} }), "tools"],
  ["a tool that is text", body({ tools: ["f"] }), "tools[0]"],
  ["a tool without name", body({ tools: [{ type: "function", function: {} }] }), "tools[0].function.name"],
  [
    "a tool with a list as parameters",
    body({ tools: [{ type: "function", function: { name: "f", parameters: [] } }] }),
    "tools[0].function.parameters",
  ],
  ["a choice of an unknown word", body({ tools: TOOLS, tool_choice: "maybe" }), "tool_choice"],
  [
    "a choice of a tool that is not there",
    body({ tools: TOOLS, tool_choice: { type: "function", function: { name: "g" } } }),
    "tool_choice.function.name",
  ],
  [
    "an allowed tool that is not there",
    body({
      tools: TOOLS,
      tool_choice: { type: "allowed_tools", allowed_tools: { tools: [{ type: "function", function: { name: "g" } }] } },
    }),
    "tool_choice.allowed_tools.tools[0].function.name",
  ],
  ["extra_body as a number", body({ extra_body: 3 }), "extra_body"],
];

function image(url: unknown): JsonObject {
  return { role: "user", content: [{ type: "image_url", image_url: { url } }] };
}

function assistant(...calls: unknown[]): JsonObject {
  return { role: "assistant", content: null, tool_calls: calls };
}

for (const [why, request, field] of REFUSED) {
  Deno.test(`chat check rejects ${why} and names ${field}`, () => assertEquals(refusedField(request), field));
}

const ACCEPTED: readonly (readonly [what: string, request: JsonObject])[] = [
  ["unknown fields", body({ tomorrow: { a: 1 }, top_k: 3 })],
  ["unknown kinds of parts", asked({ role: "user", content: [{ type: "hologram", hologram: {} }] })],
  ["nulls for optional fields", body({ temperature: null, stop: null, tools: null, stream: null, seed: null })],
  ["a seed beyond 2^53", body({ seed: 9007199254740993 })],
  ["a lone surrogate", asked({ role: "user", content: "\ud800" })],
  ["keys of Object.prototype", body(JSON.parse('{"__proto__":{"stream":"x"},"constructor":1,"toString":2}'))],
  ["an assistant without content beside calls", asked(USER, { role: "assistant", tool_calls: [CALL] })],
  ["an assistant's thoughts alone", asked(USER, { role: "assistant", content: null, reasoning_content: "hm" })],
  ["results in any order", asked(USER, assistant(CALL, { ...CALL, id: "b" }), result("b"), result("call_1"))],
  ["results of calls without ids", asked(USER, assistant({ function: { name: "f" } }), result("x"))],
  [
    "the legacy function words",
    asked(USER, { role: "assistant", content: null, function_call: { name: "f" } }, {
      role: "function",
      name: "f",
      content: "1",
    }),
  ],
  ["hosted tools", body({ tools: [{ type: "web_search" }], tool_choice: { type: "web_search" } })],
  ["tools without a type", body({ tools: [{ function: { name: "f" } }], tool_choice: "required" })],
  [
    "a bare address of an image",
    asked({ role: "user", content: [{ type: "image_url", image_url: "https://a/b.png" }] }),
  ],
  ["a PDF as image", asked(image("data:application/pdf;base64,AAAA"))],
];

function result(id: string): JsonObject {
  return { role: "tool", content: "ok", tool_call_id: id };
}

for (const [what, request] of ACCEPTED) {
  Deno.test(`chat check accepts ${what}`, () => chat.caller.check(request));
}

Deno.test("chat check never repeats prompt text", () => {
  const secret = "my-secret-prompt";
  for (
    const request of [
      asked({ role: secret, content: secret }),
      body({ tool_choice: secret }),
      body({ stop: [secret, 1] }),
    ]
  ) {
    const error = assertThrows(() => chat.caller.check(request), GatewayError);
    assert(!error.message.includes(secret));
  }
});
