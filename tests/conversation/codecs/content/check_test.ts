import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { content } from "../../../../src/conversation/codecs/content/mod.ts";

const HI = [{ role: "user", parts: [{ text: "hi" }] }];
const CALL = { role: "model", parts: [{ functionCall: { name: "look", args: {}, id: "c1" } }] };

function refusal(body: unknown): GatewayError {
  return assertThrows(() => content.caller.check(body as JsonObject), GatewayError);
}

const REFUSED: readonly (readonly [what: string, body: unknown, field: string])[] = [
  ["a list as body", [], "body"],
  ["no contents", {}, "contents"],
  ["contents of null", { contents: null }, "contents"],
  ["contents as text", { contents: "hi" }, "contents"],
  ["empty contents", { contents: [] }, "contents"],
  ["a content that is text", { contents: ["hi"] }, "contents[0]"],
  ["an unknown role", { contents: [...HI, { role: "wizard", parts: [{ text: "x" }] }] }, "contents[1].role"],
  ["parts of null", { contents: [{ role: "user", parts: null }] }, "contents[0].parts"],
  ["no parts", { contents: [{ role: "user", parts: [] }] }, "contents[0].parts"],
  ["a part that is text", { contents: [{ parts: ["hi"] }] }, "contents[0].parts[0]"],
  ["text of another type", { contents: [{ parts: [{ text: 1 }] }] }, "contents[0].parts[0].text"],
  [
    "bad base64",
    { contents: [{ parts: [{ inlineData: { mimeType: "image/png", data: "!!" } }] }] },
    "contents[0].parts[0].inlineData.data",
  ],
  [
    "no media type, in the caller's spelling",
    { contents: [{ parts: [{ inline_data: { data: "AAAA" } }] }] },
    "contents[0].parts[0].inline_data.mimeType",
  ],
  [
    "an empty address",
    { contents: [{ parts: [{ file_data: { file_uri: "" } }] }] },
    "contents[0].parts[0].file_data.file_uri",
  ],
  ["a call without name", { contents: [{ parts: [{ functionCall: {} }] }] }, "contents[0].parts[0].functionCall.name"],
  [
    "arguments as text",
    { contents: [{ parts: [{ functionCall: { name: "f", args: "{}" } }] }] },
    "contents[0].parts[0].functionCall.args",
  ],
  [
    "an answer whose id and name match no call",
    { contents: [CALL, { parts: [{ functionResponse: { name: "other", id: "zz", response: {} } }] }] },
    "contents[1].parts[0].functionResponse.id",
  ],
  [
    "an answer before any call",
    { contents: [{ parts: [{ functionResponse: { name: "look", response: {} } }] }] },
    "contents[0].parts[0].functionResponse.name",
  ],
  ["stream as text", { contents: HI, stream: "true" }, "stream"],
  ["tools as text", { contents: HI, tools: "f" }, "tools"],
  [
    "a declaration without name",
    { contents: HI, tools: [{ functionDeclarations: [{}] }] },
    "tools[0].functionDeclarations[0].name",
  ],
  [
    "a choice of a tool that is not there",
    { contents: HI, toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f"] } } },
    "toolConfig.functionCallingConfig.allowedFunctionNames[0]",
  ],
  ["settings as list", { contents: HI, generationConfig: [] }, "generationConfig"],
  ["a temperature beyond 2", { contents: HI, generationConfig: { temperature: 2.1 } }, "generationConfig.temperature"],
  ["a number as text", { contents: HI, generation_config: { top_p: "1" } }, "generation_config.top_p"],
  [
    "a number that is infinite",
    { contents: HI, generationConfig: JSON.parse('{"topK":1e999}') },
    "generationConfig.topK",
  ],
  ["a limit of 0", { contents: HI, generationConfig: { maxOutputTokens: 0 } }, "generationConfig.maxOutputTokens"],
  ["half a token", { contents: HI, generationConfig: { maxOutputTokens: 1.5 } }, "generationConfig.maxOutputTokens"],
  ["a stop that is text", { contents: HI, generationConfig: { stopSequences: "x" } }, "generationConfig.stopSequences"],
  [
    "a budget below -1",
    { contents: HI, generationConfig: { thinkingConfig: { thinkingBudget: -2 } } },
    "generationConfig.thinkingConfig.thinkingBudget",
  ],
];

for (const [what, body, field] of REFUSED) {
  Deno.test(`checkRequest rejects ${what}, naming ${field}`, () => {
    const error = refusal(body);
    assertEquals(error.status, 400);
    assertEquals(error.code, "invalid_request");
    assertEquals(error.details.field, field);
  });
}

Deno.test("checkRequest names the id of a response without a call", () => {
  const answer = { functionResponse: { name: "other", id: "call_77", response: {} } };
  assertStringIncludes(refusal({ contents: [CALL, { parts: [answer] }] }).message, "call_77");
});

const PASSED: readonly (readonly [what: string, body: JsonObject])[] = [
  ["unknown fields and unknown kinds of parts", { contents: [{ parts: [{ hologram: {} }] }], tomorrow: 1 }],
  ["a null where nothing is meant", { contents: HI, tools: null, generationConfig: { seed: null } }],
  ["a lone object for a list", {
    contents: { parts: { text: "hi" } },
    tools: { function_declarations: { name: "f" } },
  }],
  ["a model's content without parts", { contents: [...HI, { role: "model" }] }],
  ["the gateway's own key of any shape", { contents: HI, extra_body: { provider: { type: "nosuch" } } }],
  ["an answer to a call that a cached content holds", {
    cachedContent: "cachedContents/1",
    contents: [{ parts: [{ functionResponse: { name: "look", response: {} } }] }],
  }],
  ["a choice of a tool that a cached content declares", {
    cached_content: "cachedContents/1",
    contents: HI,
    toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f"] } },
  }],
  ["an answer that is matched by name alone", {
    contents: [CALL, { role: "function", parts: [{ functionResponse: { name: "look", response: { a: 1 } } }] }],
  }],
  ["a lone surrogate", { contents: [{ parts: [{ text: "\ud800" }] }] }],
  ["a topK with a decimal point", { contents: HI, generationConfig: { topK: 40.0 } }],
];

for (const [what, body] of PASSED) {
  Deno.test(`checkRequest accepts ${what}`, () => content.caller.check(body));
}

Deno.test("checkRequest does not touch the prototype of any object", () => {
  content.caller.check(JSON.parse(`{"contents":[{"parts":[{"text":"x"}]}],"__proto__":{"admin":true}}`));
  readChecked(content.caller, JSON.parse(`{"model":"a/b","contents":[{"parts":[{"__proto__":{"x":1},"text":"x"}]}]}`));
  assertEquals(({} as JsonObject).admin, undefined);
});
