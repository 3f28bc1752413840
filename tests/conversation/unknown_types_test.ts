import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { CODECS } from "../support/formats.ts";

type Case = readonly [CallerFormatName, JsonObject, field: string, expected: string];

const user = (...content: JsonObject[]) => ({ role: "user", content });
const asked = (...parts: JsonObject[]) => ({ contents: [{ role: "user", parts }] });
const HI = { type: "text", text: "hi" };
const TYPO = { type: "txt", text: "hi" };
const RESULT = { type: "tool_result", tool_use_id: "c" };

const UNKNOWN: readonly Case[] = [
  ["chat", { messages: [user(HI, TYPO)] }, "messages[0].content[1].type", '"text", "image_url"'],
  ["chat", { messages: [user({ type: "input_text", text: "hi" })] }, "messages[0].content[0].type", 'got "input_text"'],
  ["chat", { messages: [{ role: "system", content: [TYPO] }] }, "messages[0].content[0].type", '"text"'],
  ["chat", { messages: [{ role: "assistant", content: [TYPO] }] }, "messages[0].content[0].type", '"text"'],
  ["chat", { messages: [{ role: "tool", content: [TYPO] }] }, "messages[0].content[0].type", '"text"'],
  [
    "chat",
    { messages: [{ role: "assistant", tool_calls: [{ type: "custm", custom: { name: "f" } }] }] },
    "messages[0].tool_calls[0].type",
    '"function" or "custom", got "custm"',
  ],
  ["chat", { tools: [{ type: "functoin", function: { name: "f" } }] }, "tools[0].type", '"function" or "custom"'],
  ["chat", { tool_choice: { type: "functoin", name: "f" } }, "tool_choice.type", '"allowed_tools"'],
  ["chat", { response_format: { type: "json_shema" } }, "response_format.type", '"json_schema"'],

  ["responses", { input: [user({ type: "input_txt", text: "hi" })] }, "input[0].content[0].type", '"input_text"'],
  ["responses", { input: [{ type: "mesage", role: "user", content: "hi" }] }, "input[0].type", '"message"'],
  [
    "responses",
    { input: [{ type: "function_call_output", call_id: "c", output: [TYPO] }] },
    "input[0].output[0].type",
    '"input_text"',
  ],
  ["responses", { tools: [{ type: "functoin", name: "f" }] }, "tools[0].type", '"function", "custom" or "namespace"'],
  [
    "responses",
    { tools: [{ type: "namespace", name: "n", tools: [{ type: "functoin", name: "f" }] }] },
    "tools[0].tools[0].type",
    '"function" or "custom"',
  ],
  [
    "responses",
    { input: [{ type: "additional_tools", tools: [{ type: "functoin", name: "f" }] }] },
    "input[0].tools[0].type",
    '"function"',
  ],
  ["responses", { tool_choice: { type: "functoin", name: "f" } }, "tool_choice.type", '"function"'],
  ["responses", { text: { format: { type: "json_shema" } } }, "text.format.type", '"json_schema"'],

  ["messages", { messages: [user(TYPO)] }, "messages[0].content[0].type", '"text", "image"'],
  ["messages", { messages: [{ role: "assistant", content: [TYPO] }] }, "messages[0].content[0].type", '"text"'],
  [
    "messages",
    { messages: [user({ ...RESULT, content: [TYPO] })] },
    "messages[0].content[0].content[0].type",
    '"text"',
  ],
  [
    "messages",
    { messages: [user({ type: "document", source: { type: "content", content: [TYPO] } })] },
    "messages[0].content[0].source.content[0].type",
    '"text" or "image"',
  ],
  ["messages", { system: [TYPO] }, "system[0].type", 'expected "text", got "txt"'],
  ["messages", { system: [{ text: "hi" }] }, "system[0].type", 'expected "text", got nothing'],
  ["messages", { tools: [{ type: "custm", name: "f" }] }, "tools[0].type", '"custom"'],
  ["messages", { tool_choice: { type: "ayn" } }, "tool_choice.type", '"auto", "any", "tool" or "none"'],
  [
    "messages",
    { output_config: { format: { type: "json_shema", schema: {} } } },
    "output_config.format.type",
    '"json_schema"',
  ],

  ["content", asked({ text: "hi" }, { txt: "hi" }), "contents[0].parts[1].txt", '"text", "inlineData"'],
  ["content", asked({ thought: false, txt: "hi" }), "contents[0].parts[0].txt", '"text"'],
  [
    "content",
    asked({ function_response: { name: "f", parts: [{ inline: {} }] } }),
    "contents[0].parts[0].function_response.parts[0].inline",
    '"inlineData" or "fileData"',
  ],
  ["content", { system_instruction: { parts: [{ txt: "hi" }] } }, "system_instruction.parts[0].txt", '"text"'],
  ["content", { tools: [{ functionDeclaration: [] }] }, "tools[0].functionDeclaration", '"functionDeclarations"'],
];

for (const [form, fields, field, expected] of UNKNOWN) {
  Deno.test(`a ${form} request to translate is refused for an unknown ${field.replaceAll(/\[\d\]/g, "")}`, () => {
    const error = assertThrows(() => CODECS[form].caller.refuseUnknownTypes(fields), GatewayError);
    assertEquals([error.code, error.details.field], ["invalid_request", field]);
    assertStringIncludes(error.message, expected);
  });
}

const KNOWN: readonly (readonly [CallerFormatName, JsonObject])[] = [
  ["chat", { messages: [user({ type: "input_video" }, HI)], tools: [{ type: "openrouter:web_search" }] }],
  ["chat", { messages: [{ role: "assistant", tool_calls: [{ type: "functionfunction", function: { name: "f" } }] }] }],
  ["chat", { tools: [{ type: "web_search_preview" }, { function: { name: "f" } }], tool_choice: "auto" }],
  ["responses", { input: [{ role: "user", content: "hi" }, { type: "shell_call" }, { type: "ghost_snapshot" }] }],
  ["responses", { tools: [{ type: "web_search_preview_2025_03_11" }], tool_choice: { type: "file_search" } }],
  ["messages", { messages: [user({ type: "container_upload" })], tools: [{ name: "f" }, { type: "bash_20301231" }] }],
  ["content", asked({ executable_code: {} }, { thought_signature: "x" }, {}, { text: null })],
  ["content", { tools: [{ code_execution: {} }, { googleSearch: {}, tomorrow: {} }], systemInstruction: "hi" }],
];

for (const [form, fields] of KNOWN) {
  Deno.test(`a ${form} request with ${JSON.stringify(fields)} has no unknown type`, () => {
    CODECS[form].caller.refuseUnknownTypes(fields);
  });
}
