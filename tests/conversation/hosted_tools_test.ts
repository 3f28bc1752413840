import { CODECS } from "../support/formats.ts";
import { assertEquals, assertThrows } from "@std/assert";
import { content } from "../../src/conversation/codecs/content/mod.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { stateAndToolsIn } from "../../src/conversation/contract/references.ts";
import { rejectUnmeteredWork } from "../../src/conversation/parts/reply/unmetered_work.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";

const CASES: readonly (readonly [CallerFormatName, JsonObject, readonly string[]])[] = [
  ["chat", { tools: [{ type: "function", function: { name: "web_search" } }, { type: "custom" }] }, []],
  ["chat", { tools: [{ type: "web_search" }, { type: "live_search" }] }, [
    "web_search tools[0]",
    "web_search tools[1]",
  ]],
  ["chat", { tools: [{ type: "builtin_function", function: { name: "$web_search" } }] }, ["web_search tools[0]"]],
  ["chat", { web_search_options: {} }, ["web_search web_search_options"]],
  ["chat", { search_parameters: { mode: "auto" } }, ["web_search search_parameters"]],
  ["chat", { search_parameters: { mode: "off" }, enable_search: false, plugins: [] }, []],
  ["chat", { enable_search: true, plugins: [{ id: "web" }] }, ["web_search enable_search", "plugins plugins"]],
  ["responses", {
    tools: [
      { type: "web_search_preview_2025_03_11" },
      { type: "file_search" },
      { type: "code_interpreter" },
      { type: "image_generation" },
      { type: "mcp" },
      { type: "telepathy" },
      { type: "shell" },
      { type: "shell", environment: { type: "container_auto" } },
      { type: "local_shell" },
      { type: "computer_use_preview" },
      { type: "apply_patch" },
      { type: "namespace", name: "n", tools: [{ type: "function" }, { type: "web_search" }] },
    ],
    input: [{ type: "additional_tools", tools: [{ type: "web_search_2025_08_26" }] }],
  }, [
    "web_search tools[0]",
    "file_search tools[1]",
    "code_interpreter tools[2]",
    "image_generation tools[3]",
    "mcp tools[4]",
    "telepathy tools[5]",
    "shell tools[7]",
    "web_search tools[11].tools[1]",
    "web_search input[0].tools[0]",
  ]],
  ["messages", {
    tools: [
      { name: "f" },
      { type: "custom" },
      { type: "bash_20250124" },
      { type: "text_editor_20250728" },
      { type: "memory_20250818" },
      { type: "computer_20250124" },
      { type: "web_fetch_20250910" },
      { type: "tool_search_tool_regex_20251119" },
      { type: "web_search_20250305" },
      { type: "code_execution_20250825" },
      { type: "mcp_toolset", mcp_server_name: "x" },
    ],
    mcp_servers: [{ url: "https://example.com" }],
  }, ["web_search tools[8]", "code_execution tools[9]", "mcp tools[10]", "mcp mcp_servers"]],
  ["content", {
    tools: [
      { functionDeclarations: [{ name: "f" }], googleSearch: null },
      { google_search: {} },
      { googleSearchRetrieval: {}, codeExecution: {}, urlContext: {}, computerUse: {} },
      { googleMaps: {} },
      { fileSearch: {} },
      { retrieval: {} },
    ],
  }, [
    "web_search tools[1]",
    "web_search tools[2]",
    "google_maps tools[3]",
    "file_search tools[4]",
    "retrieval tools[5]",
  ]],
  ["content", { tools: { googleSearch: {} } }, ["web_search tools"]],
];

for (const [form, body, lines] of CASES) {
  Deno.test(`stateAndToolsIn() finds ${lines.length} in ${form} ${JSON.stringify(body).slice(0, 60)}`, () => {
    const { tools } = stateAndToolsIn({ grammar: CODECS[form].caller.grammar, body });
    assertEquals(tools.map(({ name, field }) => `${name} ${field}`), lines);
  });
}

Deno.test("rejectUnmeteredWork() names the field, in any format", () => {
  const asking = [
    ["background", true],
    ["background", "true"],
    ["deferred", true],
    ["async", 1],
    ["batch", true],
    ["caching", { type: "enabled" }],
    ["models", ["other/model"]],
  ] as const;
  for (const [field, value] of asking) {
    const error = assertThrows(() => rejectUnmeteredWork({ [field]: value }), GatewayError);
    assertEquals([error.status, error.details.field], [400, field]);
  }
  rejectUnmeteredWork({
    background: false,
    deferred: null,
    caching: { type: "disabled" },
    models: [],
    input: "background",
  });
});

const CONTENTS = [{ parts: [{ text: "hi" }] }];

const DOUBLES: readonly (readonly [field: string, body: JsonObject])[] = [
  ["cached_content", { contents: CONTENTS, cachedContent: "", cached_content: "cachedContents/x" }],
  ["cached_content", { contents: CONTENTS, cached_content: null, cachedContent: "cachedContents/x" }],
  ["generation_config", { contents: CONTENTS, generationConfig: {}, generation_config: {} }],
  ["system_instruction", { contents: CONTENTS, systemInstruction: null, system_instruction: "x" }],
  ["tool_config", { contents: CONTENTS, tool_config: {}, toolConfig: {} }],
  ["safety_settings", { contents: CONTENTS, safetySettings: [], safety_settings: [] }],
  ["generationConfig.max_output_tokens", {
    contents: CONTENTS,
    generationConfig: { maxOutputTokens: 1, max_output_tokens: 1_000_000 },
  }],
  ["generationConfig.response_schema", {
    contents: CONTENTS,
    generationConfig: { responseSchema: {}, response_schema: {} },
  }],
  ["contents[0].parts[0].file_data", {
    contents: [{ parts: [{ fileData: { fileUri: "https://youtu.be/a" }, file_data: { file_uri: "gs://b/x" } }] }],
  }],
  ["contents[0].parts[0].fileData.file_uri", {
    contents: [{ parts: [{ fileData: { fileUri: "https://youtu.be/a", file_uri: "gs://b/x" } }] }],
  }],
  ["tools[0].google_search", { contents: CONTENTS, tools: [{ googleSearch: null, google_search: {} }] }],
];

for (const [field, body] of DOUBLES) {
  Deno.test(`content codec: checkRequest() rejects ${field} beside its other spelling`, () => {
    const error = assertThrows(() => content.caller.check(body), GatewayError);
    assertEquals([error.status, error.details.field], [400, field]);
  });
}

Deno.test("content codec: checkRequest() ignores arguments, results and schemas", () => {
  const both = { my_key: 1, myKey: 2 };
  content.caller.check({
    contents: [
      { role: "model", parts: [{ functionCall: { name: "f", args: both } }] },
      { parts: [{ functionResponse: { name: "f", response: both } }] },
    ],
    tools: [{ functionDeclarations: [{ name: "f", parameters: { type: "object", properties: both } }] }],
  });
});
