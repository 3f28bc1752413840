import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { responses } from "../../../../src/conversation/codecs/responses/mod.ts";
import type { Conversation } from "../../../../src/conversation/neutral/conversation.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";

function read(body: JsonObject): Conversation {
  return readChecked(responses.caller, { model: "openai/m", input: "hi", ...body });
}

function items(...input: JsonObject[]): Conversation {
  return read({ input });
}

const CALL = { type: "function_call", call_id: "c1", name: "f", arguments: '{"a":1}' };
const OUTPUT = { type: "function_call_output", call_id: "c1", output: "done" };

Deno.test("readRequest() reads plain input and every setting", () => {
  const conversation = read({
    instructions: "Be brief",
    temperature: 0.5,
    top_p: 0.9,
    max_output_tokens: 100,
    stream: true,
    parallel_tool_calls: false,
    reasoning: { effort: "high", summary: "auto" },
    text: { format: { type: "json_schema", name: "n", schema: { type: "object" }, strict: true }, verbosity: "low" },
    safety_identifier: "u1",
    user: "u2",
    prompt_cache_key: "k",
    tools: [{ type: "function", name: "f", description: "d", parameters: { type: "object" }, strict: false }],
    tool_choice: { type: "function", name: "f" },
    store: false,
    include: ["reasoning.encrypted_content"],
    metadata: {},
    extra_body: { provider: { type: "azure" } },
  });
  assertEquals(conversation, {
    model: "openai/m",
    instructions: [{ kind: "text", text: "Be brief" }],
    turns: [{ role: "user", parts: [{ kind: "text", text: "hi" }] }],
    tools: [{ kind: "function", name: "f", description: "d", parameters: { type: "object" }, strict: false }],
    toolChoice: { kind: "tool", tool: "f" },
    parallelToolCalls: false,
    outputFormat: { kind: "json_schema", name: "n", description: null, schema: { type: "object" }, strict: true },
    maxOutputTokens: 100,
    sampling: {
      temperature: 0.5,
      topP: 0.9,
      topK: null,
      presencePenalty: null,
      frequencyPenalty: null,
      seed: null,
      stop: [],
    },
    reasoning: { effort: "high", budgetTokens: null, visible: true },
    stream: true,
    user: "u1",
    cacheKey: "k",
    verbosity: "low",
    metadata: {},
    unsupportedFields: ["user"],
  });
});

Deno.test("readRequest() reads a message without a type, and developer text as instructions", () => {
  const { instructions, turns } = items(
    { role: "developer", content: [{ type: "input_text", text: "rules" }] },
    { role: "system", content: "more rules" },
    { role: "user", content: "hi" },
    { role: "developer", content: "later rule" },
    { role: "user", content: "" },
  );
  assertEquals(instructions.map(({ text }) => text), ["rules", "more rules"]);
  assertEquals(turns.map(({ role }) => role), ["user", "system"]);
});

Deno.test("readRequest() joins adjacent items of one role and puts results first in the turn after their call", () => {
  const { turns } = items(
    { role: "user", content: "a" },
    { role: "user", content: "b" },
    { role: "assistant", content: [{ type: "output_text", text: "calling", annotations: [] }] },
    CALL,
    { role: "developer", content: "mind the time" },
    { role: "user", content: "quick" },
    OUTPUT,
  );
  assertEquals(turns.map(({ role, parts }) => [role, parts.map(({ kind }) => kind)]), [
    ["user", ["text", "text"]],
    ["assistant", ["text", "tool_call"]],
    ["user", ["tool_result"]],
    ["system", ["text"]],
    ["user", ["text"]],
  ]);
  assertEquals(turns[2]?.parts[0], {
    kind: "tool_result",
    callId: "c1",
    tool: "f",
    parts: [{ kind: "text", text: "done" }],
    isError: false,
  });
});

Deno.test("readRequest() puts a late result before the user text in between", () => {
  const second = { ...CALL, call_id: "c2" };
  const { turns } = items(CALL, second, OUTPUT, { role: "user", content: "hurry" }, { ...OUTPUT, call_id: "c2" });
  assertEquals(turns.length, 2);
  assertEquals(turns[1]?.parts.map((part) => part.kind === "tool_result" ? part.callId : part.kind), [
    "c1",
    "c2",
    "text",
  ]);
});

Deno.test("readRequest() reads custom calls both ways", () => {
  const { turns, tools } = read({
    tools: [{ type: "custom", name: "sql", format: { type: "grammar", syntax: "regex", definition: ".*" } }],
    input: [
      { type: "custom_tool_call", call_id: "c2", name: "sql", input: "select 1" },
      { type: "custom_tool_call_output", call_id: "c2", output: [{ type: "input_text", text: "1" }] },
    ],
  });
  assertEquals(turns[0]?.parts, [{ kind: "tool_call", callId: "c2", tool: "sql", input: "select 1", custom: true }]);
  const result = turns[1]?.parts[0];
  assertEquals(result?.kind === "tool_result" && result.custom, true);
  assertEquals(tools[0]?.kind === "custom" && tools[0].format, {
    type: "grammar",
    syntax: "regex",
    definition: ".*",
  });
});

Deno.test("readRequest() reads reasoning with null content, and skips empty reasoning", () => {
  const { turns } = items(
    {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "a" }, { type: "summary_text", text: "b" }],
      content: null,
    },
    { type: "reasoning", id: "rs_2", summary: [], content: null, encrypted_content: "gAAA" },
    { type: "reasoning", id: "rs_3", summary: [], encrypted_content: null },
    { role: "assistant", content: "so" },
  );
  assertEquals(turns[0]?.parts, [
    { kind: "reasoning", text: "a\n\nb", id: "rs_1" },
    { kind: "reasoning", text: "", signature: { format: "responses", issuer: null, value: "gAAA" }, id: "rs_2" },
    { kind: "text", text: "so" },
  ]);
});

Deno.test("readRequest() reads tools of namespaces and of additional_tools items, and their calls", () => {
  const { tools, turns, unsupportedFields } = read({
    tools: [{ type: "namespace", name: "mcp", description: "x", tools: [{ type: "function", name: "find" }] }],
    input: [
      { type: "additional_tools", role: "developer", tools: [{ type: "function", name: "late" }] },
      { type: "function_call", call_id: "c", name: "find", namespace: "mcp", arguments: "{}" },
      { type: "function_call", call_id: "d", name: "late", namespace: "late", arguments: "" },
    ],
  });
  assertEquals(tools.map(({ name }) => name), ["mcp/find", "late"]);
  assertEquals(turns[0]?.parts.map((part) => part.kind === "tool_call" && part.tool), ["mcp/find", "late"]);
  assertEquals(unsupportedFields, []);
});

Deno.test("readRequest() reports unsupported fields, in the caller's spelling", () => {
  const { unsupportedFields, tools, toolChoice } = read({
    client_metadata: { a: 1 },
    metadata: { a: "1" },
    store: true,
    service_tier: "flex",
    truncation: "auto",
    include: ["web_search_call.results"],
    reasoning: { effort: "galactic", context: "all_turns" },
    tools: [{ type: "file_search" }, { type: "mcp", server_label: "s" }],
    tool_choice: { type: "file_search" },
    top_k: 5,
    input: [
      { role: "user", content: [{ type: "input_text", text: "x" }, { type: "input_hologram" }] },
      { type: "file_search_call", id: "fs_1", status: "completed" },
      { role: "assistant", content: "y", phase: "commentary" },
    ],
  });
  assertEquals([...unsupportedFields].sort(), [
    "client_metadata",
    "include",
    "input.content.input_hologram",
    "input.file_search_call",
    "input.phase",
    "reasoning.context",
    "reasoning.effort",
    "store",
    "tool_choice",
    "tools.file_search",
    "tools.mcp",
    "top_k",
    "truncation",
  ]);
  assertEquals([tools, toolChoice], [[], null]);
});

Deno.test("readRequest() rejects references that only the vendor can resolve, with the reason", () => {
  const wrong: readonly (readonly [string, JsonObject])[] = [
    ["previous_response_id", { previous_response_id: "resp_1" }],
    ["conversation", { conversation: "conv_1" }],
    ["background", { background: true }],
    ["prompt", { prompt: { id: "pmpt_1" } }],
    ["input[1]", { input: [CALL, { type: "item_reference", id: "fc_1" }] }],
    ["input[0]", { input: [{ type: "compaction", encrypted_content: "x" }] }],
    ["input[0].content[0].file_id", {
      input: [{ role: "user", content: [{ type: "input_image", file_id: "file_1" }] }],
    }],
    ["input[0].content[0].file_id", {
      input: [{ role: "user", content: [{ type: "input_file", file_id: "file_1" }] }],
    }],
  ];
  for (const [field, change] of wrong) {
    const error = assertThrows(() => read(change), GatewayError);
    assertEquals(error.details.field, field);
    assertStringIncludes(error.message, "not supported for this model");
  }
  assertEquals(read({ previous_response_id: null, conversation: null, background: false }).unsupportedFields, []);
});

Deno.test("readRequest() rejects a limit that is not an exact number", () => {
  const error = assertThrows(() => read({ max_output_tokens: 9007199254740993 }), GatewayError);
  assertEquals(error.details.field, "max_output_tokens");
});

Deno.test("readRequest() reads media from data URLs, plain data and URLs", () => {
  const { turns } = items({
    role: "user",
    content: [
      { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "high", prompt_cache_breakpoint: {} },
      { type: "input_image", image_url: "https://a.example/x.png" },
      { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;name=a.pdf;base64,AA\nAA" },
      { type: "input_file", filename: "a.txt", file_data: "AAAA" },
      { type: "input_file", file_url: "https://a.example/x.pdf" },
      { type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } },
    ],
  });
  assertEquals(turns[0]?.parts, [
    {
      kind: "image",
      source: { kind: "base64", mediaType: "image/png", data: "AAAA" },
      detail: "high",
      cache: { ttl: null },
    },
    { kind: "image", source: { kind: "url", url: "https://a.example/x.png", mediaType: null } },
    { kind: "file", source: { kind: "base64", mediaType: "application/pdf", data: "AAAA" }, name: "a.pdf" },
    { kind: "file", source: { kind: "base64", mediaType: "text/plain", data: "AAAA" }, name: "a.txt" },
    { kind: "file", source: { kind: "url", url: "https://a.example/x.pdf", mediaType: null }, name: null },
    { kind: "audio", source: { kind: "base64", mediaType: "audio/mpeg", data: "AAAA" } },
  ]);
});

Deno.test("readRequest() rejects invalid media", () => {
  const wrong: readonly (readonly [string, JsonObject])[] = [
    ["image_url", { type: "input_image", image_url: "data:image/png;base64,%%%" }],
    ["image_url", { type: "input_image", image_url: "data:image/png,plain" }],
    ["image_url", { type: "input_image", image_url: "file:///etc/passwd" }],
    ["file_url", { type: "input_file", file_url: "ftp://a" }],
    ["file_data", { type: "input_file", file_data: "{}" }],
    ["input_audio.format", { type: "input_audio", input_audio: { data: "AAAA", format: "ogg" } }],
  ];
  for (const [field, part] of wrong) {
    const error = assertThrows(() => items({ role: "user", content: [part] }), GatewayError);
    assertEquals(error.details.field, `input[0].content[0].${field}`);
  }
});

Deno.test("readRequest() reads an image of an earlier reply and the sources of an earlier text", () => {
  const { turns } = items(
    { role: "user", content: "draw" },
    { type: "image_generation_call", id: "ig_1", result: "AAAA", output_format: "webp" },
    {
      role: "assistant",
      content: [{
        type: "output_text",
        text: "see",
        annotations: [
          { type: "url_citation", url: "https://a.example", title: "A", start_index: 0, end_index: 3 },
          { type: "file_citation", file_id: "f" },
        ],
      }],
    },
  );
  assertEquals(turns[1]?.parts, [
    { kind: "image", source: { kind: "base64", mediaType: "image/webp", data: "AAAA" } },
    { kind: "text", text: "see", citations: [{ url: "https://a.example", title: "A", start: 0, end: 3 }] },
  ]);
});
