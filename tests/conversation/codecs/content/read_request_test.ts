import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assertEquals, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { content, readCachedContent } from "../../../../src/conversation/codecs/content/mod.ts";
import type { Conversation, Part, Turn } from "../../../../src/conversation/neutral/conversation.ts";
import { writeSignature } from "../../../../src/conversation/neutral/reasoning_signature.ts";

const HI = [{ role: "user", parts: [{ text: "hi" }] }];

function read(body: JsonObject): Conversation {
  return readChecked(content.caller, { model: "google/gemini-3-pro", ...body });
}

function turnsOf(...contents: JsonObject[]): readonly Turn[] {
  return read({ contents }).turns;
}

function model(...parts: JsonObject[]): JsonObject {
  return { role: "model", parts };
}

function user(...parts: JsonObject[]): JsonObject {
  return { role: "user", parts };
}

function call(name: string, id?: string): JsonObject {
  return { functionCall: id === undefined ? { name } : { name, id } };
}

function answer(name: string, output: string, id?: string): JsonObject {
  const response = { output };
  return { functionResponse: id === undefined ? { name, response } : { name, id, response } };
}

Deno.test("readRequest takes model and streaming from the members set from the path", () => {
  const { model, stream } = read({ contents: HI, stream: true });
  assertEquals([model, stream], ["google/gemini-3-pro", true]);
  assertEquals(read({ contents: HI }).stream, false);
  assertThrows(() => readChecked(content.caller, { contents: HI }), GatewayError, "model");
});

Deno.test("readRequest reads snake_case as it reads camelCase", () => {
  const camel = {
    contents: [user({ inlineData: { mimeType: "image/png", data: "AAAA" } }), model({ functionCall: { name: "f" } })],
    systemInstruction: { parts: [{ text: "be kind" }] },
    tools: [{ functionDeclarations: [{ name: "f", parametersJsonSchema: { type: "object" } }] }],
    toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f"] } },
    generationConfig: {
      topP: 0.5,
      topK: 3,
      maxOutputTokens: 9,
      stopSequences: ["x"],
      presencePenalty: 1,
      frequencyPenalty: -1,
      responseMimeType: "application/json",
      responseJsonSchema: { type: "object" },
      thinkingConfig: { includeThoughts: true, thinkingBudget: 5 },
      mediaResolution: "MEDIA_RESOLUTION_LOW",
    },
  };
  const snake = JSON.parse(
    JSON.stringify(camel).replaceAll(
      /"([a-z]+[A-Z][A-Za-z]*)":/g,
      (_, name) => `"${name.replaceAll(/[A-Z]/g, (letter: string) => `_${letter.toLowerCase()}`)}":`,
    ),
  );
  assertEquals("system_instruction" in snake, true);
  assertEquals(read(snake), read(camel));
  assertEquals(read(camel).unsupportedFields, []);
});

Deno.test("readRequest never renames the user's own data", () => {
  const args = { inlineData: 1, top_k: 2, nested: { function_call: 3 } };
  const schema = { type: "object", properties: { any_of: { type: "string" }, topK: { type: "number" } } };
  const { turns, tools } = read({
    contents: [...HI, model({ functionCall: { name: "f", args } }), user(answer("f", "x"))],
    tools: [{ function_declarations: [{ name: "f", parameters_json_schema: schema }] }],
  });
  assertEquals(JSON.parse((turns[1]!.parts[0] as Extract<Part, { kind: "tool_call" }>).input), args);
  assertEquals(tools[0]!.kind === "function" && tools[0]!.parameters, schema);
});

Deno.test("readRequest joins adjacent contents of one role and puts responses first", () => {
  const turns = turnsOf(
    ...HI,
    model({ text: "a" }),
    model(call("f", "1")),
    user({ text: "meanwhile" }),
    { role: "function", parts: [answer("f", "done", "1")] },
  );
  assertEquals(turns.map((turn) => turn.role), ["user", "assistant", "user"]);
  assertEquals(turns[1]!.parts.map((part) => part.kind), ["text", "tool_call"]);
  assertEquals(turns[2]!.parts.map((part) => part.kind), ["tool_result", "text"]);
});

Deno.test("readRequest gives calls without an id one of call_ and 24 characters, the same every time", () => {
  const contents = [...HI, model(call("f"), call("f")), user(answer("f", "1"), answer("f", "2"))];
  const [, calls, results] = turnsOf(...contents);
  const ids = calls!.parts.map((part) => part.kind === "tool_call" ? part.callId : "");
  assertEquals(ids.map((id) => /^call_[0-9a-f]{24}$/.test(id)), [true, true]);
  assertEquals(new Set(ids).size, 2);
  assertEquals(results!.parts.map((part) => part.kind === "tool_result" ? part.callId : ""), ids);
  assertEquals(turnsOf(...contents)[1], calls);
});

Deno.test("readRequest matches responses to calls by id, or by name in order, or by position", () => {
  const [, calls, results] = turnsOf(
    ...HI,
    model(call("f", "a"), call("g"), call("g"), call("f", "b")),
    user(answer("f", "for b", "b"), answer("g", "first"), answer("g", "second"), answer("g", "left", "a")),
  );
  const idOf = new Map(calls!.parts.map((part, at) => [part.kind === "tool_call" ? part.callId : "", at]));
  const order = results!.parts.map((part) => part.kind === "tool_result" ? idOf.get(part.callId) : -1);
  assertEquals(order, [3, 1, 2, 0]);
});

Deno.test("readRequest gives two calls of one id different ids, and each its response", () => {
  const [, calls, results] = turnsOf(
    ...HI,
    model(call("f", "same"), call("g", "same")),
    user(answer("f", "1", "same"), answer("g", "2", "same")),
  );
  const ids = calls!.parts.map((part) => part.kind === "tool_call" ? part.callId : "");
  assertEquals(new Set(ids).size, 2);
  assertEquals(results!.parts.map((part) => part.kind === "tool_result" ? part.callId : ""), ids);
});

const ANSWERS: readonly (readonly [response: JsonObject, text: string | null, isError: boolean])[] = [
  [{ output: "fine" }, "fine", false],
  [{ result: 5 }, "5", false],
  [{ error: "broken" }, "broken", true],
  [{ error: { code: 1 } }, '{"code":1}', true],
  [{ temperature: 20, unit: "C" }, '{"temperature":20,"unit":"C"}', false],
  [{ output: "x", more: 1 }, '{"output":"x","more":1}', false],
  [{}, null, false],
];

for (const [response, text, isError] of ANSWERS) {
  Deno.test(`readRequest reads the response ${JSON.stringify(response)} as ${JSON.stringify(text)}`, () => {
    const turns = turnsOf(...HI, model(call("f", "1")), user({ functionResponse: { name: "f", response } }));
    assertEquals(turns[2]!.parts[0], {
      kind: "tool_result",
      callId: "1",
      tool: "f",
      parts: text === null ? [] : [{ kind: "text", text }],
      isError,
    });
  });
}

Deno.test("readRequest distinguishes media by their media type, and repairs base64", () => {
  const [turn] = turnsOf(user(
    { inlineData: { mimeType: "image/png", data: "-_-_" } },
    { inlineData: { mimeType: "audio/wav", data: "AA\nAA" } },
    { inlineData: { mimeType: "video/mp4", data: "AA" } },
    { inlineData: { mimeType: "application/pdf", data: "AAAA", displayName: "a.pdf" } },
    { fileData: { fileUri: "gs://bucket/x.png" } },
    { fileData: { fileUri: "https://youtu.be/abc" } },
  ));
  assertEquals(turn!.parts, [
    { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "+/+/" } },
    { kind: "audio", source: { kind: "base64", mediaType: "audio/wav", data: "AAAA" } },
    { kind: "video", source: { kind: "base64", mediaType: "video/mp4", data: "AA==" } },
    { kind: "file", source: { kind: "base64", mediaType: "application/pdf", data: "AAAA" }, name: "a.pdf" },
    { kind: "image", source: { kind: "url", url: "gs://bucket/x.png", mediaType: null } },
    { kind: "video", source: { kind: "url", url: "https://youtu.be/abc", mediaType: null } },
  ]);
});

Deno.test("readRequest accepts a signature in either alphabet, wrapped or not", () => {
  const bare = Buffer.from([251, 255, 254, 250, 1, 2, 3, 4, 5, 6, 7, 8, 9]).toString("base64");
  const urlSafe = bare.replaceAll("+", "-").replaceAll("/", "_");
  const signature = { format: "messages" as const, issuer: "anthropic", value: "Ep+/" };
  const labelled = writeSignature(signature, "content").replaceAll("+", "-").replaceAll("/", "_");
  const [, turn] = turnsOf(
    ...HI,
    model(
      { text: "x", thoughtSignature: urlSafe },
      { text: "hm", thought: true, thought_signature: labelled },
      { functionCall: { name: "f" }, thoughtSignature: "skip_thought_signature_validator" },
    ),
  );
  const [text, reasoning, call] = turn!.parts;
  assertEquals(text, { kind: "text", text: "x", signature: { format: "content", issuer: null, value: bare } });
  assertEquals(reasoning, { kind: "reasoning", text: "hm", signature });
  assertEquals("signature" in call!, false);
});

Deno.test("readRequest attaches an empty part's signature to the text before it", () => {
  const [, turn] = turnsOf(...HI, model({ text: "a" }, { text: "", thoughtSignature: "AAAA" }, { text: "" }));
  assertEquals(turn!.parts, [{
    kind: "text",
    text: "a",
    signature: { format: "content", issuer: null, value: "AAAA" },
  }]);
});

Deno.test("readRequest attaches a separate signature to the reasoning before it", () => {
  const turns = turnsOf(
    ...HI,
    model({ text: "Hm.", thought: true }, { text: "", thought: true, thoughtSignature: "RUFB" }, { text: "So:" }),
  );
  const signature = { format: "content" as const, issuer: null, value: "RUFB" };
  assertEquals(turns[1]?.parts, [{ kind: "reasoning", text: "Hm.", signature }, { kind: "text", text: "So:" }]);
});

Deno.test("readRequest joins the chunks of a stream that a chat client stored as contents, and nothing else", () => {
  const signature = { format: "content" as const, issuer: null, value: "AAAA" };
  const [, turn] = turnsOf(
    ...HI,
    model({ text: "h", thought: true }),
    model({ text: "m", thought: true }),
    model({ text: "", thought: true, thoughtSignature: "AAAA" }),
    model({ text: "wo" }),
    model({ text: "rd" }, { text: "s" }),
    model({ text: "", thoughtSignature: "AAAA" }),
    model({ text: "more" }),
  );
  assertEquals(turn!.parts, [
    { kind: "reasoning", text: "hm", signature },
    { kind: "text", text: "words", signature },
    { kind: "text", text: "more" },
  ]);
});

Deno.test("readRequest joins the reasoning and text of a stream whose parts a client collected in one content", () => {
  const [, turn] = turnsOf(
    ...HI,
    model(
      { text: "h", thought: true },
      { text: "m", thought: true },
      { text: "", thought: true, thoughtSignature: "AAAA" },
      { text: "again", thought: true, thoughtSignature: "BBBB" },
      { text: "wo" },
      { text: "rd" },
    ),
  );
  assertEquals(turn!.parts, [
    { kind: "reasoning", text: "hm", signature: { format: "content", issuer: null, value: "AAAA" } },
    { kind: "reasoning", text: "again", signature: { format: "content", issuer: null, value: "BBBB" } },
    { kind: "text", text: "word" },
  ]);
});

Deno.test("readRequest reads redacted reasoning as redacted", () => {
  const signature = { format: "messages" as const, issuer: "anthropic", value: "hidden" };
  const { body } = content.caller.writeReply(
    {
      id: "1",
      model: "m",
      createdAt: null,
      parts: [{ kind: "reasoning", text: "", signature, redacted: true }, { kind: "text", text: "x" }],
      stop: { reason: "end", raw: null },
      usage: null,
      unsupportedFields: [],
    },
    { model: "m", requestId: "r", createdAt: 0, conversation: null, includeUsage: false },
  );
  const said = (body.candidates as JsonObject[])[0]!.content as JsonObject;
  assertEquals(turnsOf(...HI, said)[1]!.parts[0], { kind: "reasoning", text: "", signature, redacted: true });
});

Deno.test("readRequest skips drafts, empty text and contents without parts", () => {
  const draft = { thought: true, inlineData: { mimeType: "image/png", data: "AAAA" } };
  assertEquals(turnsOf(...HI, { role: "model" }, model(draft, { text: "" })).length, 1);
});

Deno.test("readRequest reads the vendor's own schema type as JSON Schema", () => {
  const parameters = {
    type: "OBJECT",
    properties: {
      any_of: { type: "STRING", nullable: true, format: "enum", enum: ["a"] },
      list: { type: "ARRAY", items: { type: "INTEGER" }, min_items: "1" },
      choice: { any_of: [{ type: "STRING" }, { type: "NUMBER" }], nullable: true },
    },
    property_ordering: ["list"],
    required: ["list"],
  };
  const { tools } = read({ contents: HI, tools: [{ functionDeclarations: [{ name: "f", parameters }] }] });
  assertEquals(tools[0]!.kind === "function" && tools[0]!.parameters, {
    type: "object",
    properties: {
      any_of: { type: ["string", "null"], enum: ["a", null] },
      list: { type: "array", items: { type: "integer" }, minItems: 1 },
      choice: { anyOf: [{ type: "string" }, { type: "number" }, { type: "null" }] },
    },
    required: ["list"],
  });
});

const CHOICES: readonly (readonly [config: JsonObject, choice: unknown])[] = [
  [{ mode: "AUTO" }, { kind: "auto" }],
  [{ mode: "NONE" }, { kind: "none" }],
  [{ mode: "ANY" }, { kind: "required" }],
  [{ mode: "ANY", allowedFunctionNames: [] }, { kind: "required" }],
  [{ mode: "ANY", allowedFunctionNames: ["f"] }, { kind: "tool", tool: "f" }],
  [{ mode: "ANY", allowedFunctionNames: ["f", "g"] }, { kind: "allowed", mode: "required", tools: ["f", "g"] }],
  [{ mode: "VALIDATED", allowedFunctionNames: ["f"] }, { kind: "allowed", mode: "auto", tools: ["f"] }],
  [{ mode: "VALIDATED" }, { kind: "auto" }],
];

for (const [functionCallingConfig, choice] of CHOICES) {
  Deno.test(`readRequest reads the choice ${JSON.stringify(functionCallingConfig)}`, () => {
    const tools = [{ functionDeclarations: [{ name: "f" }, { name: "g" }] }];
    assertEquals(read({ contents: HI, tools, toolConfig: { functionCallingConfig } }).toolChoice, choice as never);
  });
}

const THINKING: readonly (readonly [config: JsonObject, reasoning: unknown])[] = [
  [{ thinkingBudget: 0 }, { effort: "none", budgetTokens: null, visible: null }],
  [{ thinkingBudget: -1 }, { effort: null, budgetTokens: null, visible: null }],
  [{ thinkingBudget: 99, includeThoughts: true }, { effort: null, budgetTokens: 99, visible: true }],
  [{ thinkingLevel: "LOW" }, { effort: "low", budgetTokens: null, visible: null }],
  [{ thinkingLevel: "minimal", includeThoughts: false }, { effort: "minimal", budgetTokens: null, visible: false }],
];

for (const [thinkingConfig, reasoning] of THINKING) {
  Deno.test(`readRequest reads the thinking ${JSON.stringify(thinkingConfig)}`, () => {
    assertEquals(read({ contents: HI, generationConfig: { thinkingConfig } }).reasoning, reasoning as never);
  });
}

Deno.test("readRequest reports fields without a neutral form, in the caller's spelling", () => {
  const { unsupportedFields } = read({
    contents: [user({ text: "x", videoMetadata: { fps: 1 } }, { executableCode: { code: "1" } })],
    safetySettings: [],
    tools: [{ codeExecution: {} }, { functionDeclarations: [{ name: "f", response: {} }] }],
    tool_config: { retrievalConfig: {} },
    generation_config: { response_modalities: ["IMAGE"], speechConfig: {}, responseLogprobs: true },
    extra_body: { provider: { type: "nosuch" } },
    cachedContent: "cachedContents/1",
  });
  assertEquals(unsupportedFields.toSorted(), [
    "contents.parts.executableCode",
    "contents.parts.videoMetadata",
    "generation_config.response_modalities",
    "generation_config.speechConfig",
    "safetySettings",
    "tool_config.retrievalConfig",
    "tools.codeExecution",
    "tools.functionDeclarations.response",
  ]);
});

Deno.test("readRequest rejects several candidates, and integers that JSON cannot represent exactly", () => {
  for (
    const [config, field] of [
      ['{"candidateCount":2}', "generationConfig.candidateCount"],
      ['{"seed":9007199254740993}', "generationConfig.seed"],
      ['{"maxOutputTokens":9007199254740993}', "generationConfig.maxOutputTokens"],
    ] as const
  ) {
    const body = { contents: HI, generationConfig: JSON.parse(config) };
    content.caller.check(body);
    assertEquals(assertThrows(() => read(body), GatewayError).details.field, field);
  }
});

Deno.test("readRequest reads ten thousand calls and responses in one pass", () => {
  const calls = Array.from({ length: 10_000 }, (_, at) => call("f", `${at}`));
  const answers = Array.from({ length: 10_000 }, (_, at) => answer("f", "x", `${9_999 - at}`));
  const [, , results] = turnsOf(...HI, model(...calls), user(...answers));
  assertEquals((results!.parts[0] as Extract<Part, { kind: "tool_result" }>).callId, "9999");
});

Deno.test("readCachedContent reads the name in either spelling", () => {
  assertEquals(readCachedContent({ cachedContent: "cachedContents/1" }), "cachedContents/1");
  assertEquals(readCachedContent({ cached_content: "cachedContents/2" }), "cachedContents/2");
  assertEquals(readCachedContent({}), null);
});
