import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import type { RequestTarget } from "../../../../src/conversation/contract/upstream_format.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import { wireToolName } from "../../../../src/conversation/codecs/content/shared/calls.ts";
import { needsInlining } from "../../../../src/conversation/codecs/content/mod.ts";
import { writeRequest } from "../../../../src/conversation/codecs/content/upstream/write_request.ts";
import {
  type Conversation,
  NO_SAMPLING,
  type Part,
  type ToolCallPart,
  type ToolResultPart,
  type Turn,
} from "../../../../src/conversation/neutral/conversation.ts";
import type { ReasoningSignature } from "../../../../src/conversation/neutral/reasoning_signature.ts";
import { conversationOf, RESEMBLING_QUIRKS, retarget, targetOf } from "../../../support/conversations.ts";

const TARGET = targetOf({ model: "gemini-3-flash", provider: "google" });

const HI: Turn = { role: "user", parts: [{ kind: "text", text: "hi" }] };

function write(some: Partial<Conversation>, target: Partial<RequestTarget> = {}) {
  const { body, droppedFields, toolNames } = writeRequest(
    conversationOf({ turns: [HI], ...some }),
    retarget(TARGET, target),
  );
  // deno-lint-ignore no-explicit-any -- tests look into bodies freely
  return { body: body as any, droppedFields, toolNames };
}

function call(callId: string, tool: string, some: Partial<ToolCallPart> = {}): ToolCallPart {
  return { kind: "tool_call", callId, tool, input: "{}", ...some };
}

function result(callId: string, text: string, some: Partial<ToolResultPart> = {}): ToolResultPart {
  return { kind: "tool_result", callId, tool: null, parts: [{ kind: "text", text }], isError: false, ...some };
}

function say(role: Turn["role"], ...parts: Part[]): Turn {
  return { role, parts };
}

function responsesIn(body: { contents: JsonObject[] }, at: number): [string, unknown][] {
  const parts = body.contents[at]!.parts as { functionResponse?: { id: string; response: unknown } }[];
  return parts.flatMap(({ functionResponse: found }) => found ? [[found.id, found.response]] : []);
}

Deno.test("writeRequest writes neither model nor stream", () => {
  const { body } = write({ stream: true });
  assertEquals(body, { contents: [{ role: "user", parts: [{ text: "hi" }] }], store: false });
});

Deno.test("writeRequest puts responses in the order of their calls, before other parts of the turn", () => {
  const { body } = write({
    turns: [
      HI,
      say("assistant", call("a", "f"), call("b", "g")),
      say("user", result("b", "for b"), result("a", "for a"), { kind: "text", text: "and?" }),
    ],
  });
  assertEquals(responsesIn(body, 2), [["a", { output: "for a" }], ["b", { output: "for b" }]]);
  assertEquals(body.contents[2].parts[0].functionResponse.name, "f");
  assertEquals(body.contents[2].parts[2], { text: "and?" });
});

Deno.test("writeRequest puts every response in the content after its call, and adds a missing one", () => {
  const { body, droppedFields } = write({
    turns: [
      HI,
      say("assistant", call("a", "f"), call("b", "g"), call("c", "h")),
      say("user", result("a", "now")),
      say("assistant", { kind: "text", text: "wait" }),
      say("user", result("b", "later")),
      say("assistant", call("d", "f")),
    ],
  });
  assertEquals(responsesIn(body, 2), [
    ["a", { output: "now" }],
    ["b", { output: "later" }],
    ["c", { error: "No result: the call was interrupted" }],
  ]);
  assertEquals(body.contents.map((turn: JsonObject) => turn.role), ["user", "model", "user", "model", "user"]);
  assertEquals(body.contents[3].parts.map((part: JsonObject) => Object.keys(part)[0]), ["text", "functionCall"]);
  assertEquals(responsesIn(body, 4).length, 1);
  assertEquals(droppedFields, []);
});

Deno.test("writeRequest never matches a response to a later call", () => {
  const { body, droppedFields } = write({
    turns: [say("user", result("a", "early")), say("assistant", call("a", "f"))],
  });
  assertEquals(body.contents[0].parts.at(-1), { text: "early" });
  assertEquals(responsesIn(body, 2), [["a", { error: "No result: the call was interrupted" }]]);
  assertEquals(droppedFields, ["tool_result"]);
});

Deno.test("writeRequest writes a response without a call as user text", () => {
  const { body, droppedFields } = write({
    turns: [HI, say("assistant", call("a", "f")), say("user", result("z", "lost"))],
  });
  assertEquals(body.contents[2].parts.slice(1), [{ text: "Result of an earlier tool call:" }, { text: "lost" }]);
  assertEquals(droppedFields, ["tool_result"]);
});

Deno.test("writeRequest gives two calls of one id different ids, and each its response", () => {
  const { body } = write({
    turns: [
      HI,
      say("assistant", call("same", "f")),
      say("user", result("same", "1")),
      say("assistant", call("same", "g")),
      say("user", result("same", "2")),
    ],
  });
  const [[first, one], [second, two]] = [responsesIn(body, 2)[0]!, responsesIn(body, 4)[0]!];
  assertEquals([one, two], [{ output: "1" }, { output: "2" }]);
  assertEquals(body.contents[3].parts[0].functionCall.id, second);
  assertEquals(first === second, false);
});

Deno.test("writeRequest puts a user content first, and adds one if there is none", () => {
  const { body, droppedFields } = write({ turns: [say("assistant", { kind: "text", text: "hello" })] });
  assertEquals(body.contents.map((turn: JsonObject) => turn.role), ["user", "model"]);
  assertEquals(droppedFields, ["turn_order"]);
  assertEquals(write({ turns: [] }).body.contents.length, 1);
});

Deno.test("writeRequest writes a system turn as user text, joined with adjacent ones", () => {
  const { body, droppedFields } = write({ turns: [HI, say("system", { kind: "text", text: "be brief" })] });
  assertEquals(body.contents.length, 1);
  assertStringIncludes(body.contents[0].parts[1].text, "be brief");
  assertEquals(droppedFields, ["system_turn"]);
});

const ISSUED: ReasoningSignature = { format: "content", issuer: "google", value: "c2ln" };
const BYPASS = "skip_thought_signature_validator";

const SIGNATURES: readonly (readonly [
  what: string,
  signature: ReasoningSignature | undefined,
  written: string,
  droppedFields: string[],
])[] = [
  ["its own signature", ISSUED, "c2ln", []],
  ["a signature without an issuer", { ...ISSUED, issuer: null }, "c2ln", []],
  ["another provider's signature", { ...ISSUED, issuer: "vertex" }, BYPASS, ["reasoning_signature"]],
  ["another format's signature", { format: "messages", issuer: "google", value: "x" }, BYPASS, ["reasoning_signature"]],
  ["no signature", undefined, BYPASS, []],
];

for (const [what, signature, written, expected] of SIGNATURES) {
  Deno.test(`writeRequest signs the first call of a step that has ${what}, and no later one`, () => {
    const { body, droppedFields } = write({
      turns: [
        HI,
        say("assistant", call("a", "f", signature && { signature }), call("b", "f")),
        say("user", result("a", "")),
      ],
    });
    const [first, second] = body.contents[1].parts;
    assertEquals(first.thoughtSignature, written);
    assertEquals("thoughtSignature" in second, false);
    assertEquals(droppedFields, expected);
  });
}

Deno.test("writeRequest keeps a later call's own signature, and sends no placeholder to a compatible vendor", () => {
  const turns = [HI, say("assistant", call("a", "f"), call("b", "f", { signature: ISSUED }))];
  assertEquals(write({ turns }).body.contents[1].parts[1].thoughtSignature, "c2ln");
  const { body } = write({ turns }, { quirks: RESEMBLING_QUIRKS });
  assertEquals(body.contents[1].parts[0], { functionCall: { name: "f", args: {} } });
});

Deno.test("writeRequest sends reasoning of other vendors without its signature, and drops redacted reasoning", () => {
  const signature: ReasoningSignature = { format: "messages", issuer: "anthropic", value: "x" };
  const { body, droppedFields } = write({
    turns: [
      HI,
      say(
        "assistant",
        { kind: "reasoning", text: "hm", signature },
        { kind: "reasoning", text: "", signature, redacted: true },
        { kind: "reasoning", text: "own", signature: ISSUED },
        { kind: "text", text: "x", signature },
      ),
    ],
  });
  assertEquals(body.contents[1].parts, [
    { text: "hm", thought: true },
    { text: "own", thought: true, thoughtSignature: "c2ln" },
    { text: "x" },
  ]);
  assertEquals(droppedFields, ["reasoning_signature"]);
});

Deno.test("writeRequest leaves out a turn with only unsigned reasoning, and joins the adjacent ones", () => {
  const { body, droppedFields } = write({ turns: [HI, say("assistant", { kind: "reasoning", text: "hm" }), HI] });
  assertEquals(body.contents, [{ role: "user", parts: [{ text: "hi" }, { text: "hi" }] }]);
  assertEquals(droppedFields, ["reasoning_text"]);
});

Deno.test("writeRequest wraps arguments that are not an object, and keeps results that are objects", () => {
  const { body } = write({
    turns: [
      HI,
      say("assistant", call("a", "f", { input: '{"x":' }), call("b", "g", { input: "free", custom: true })),
      say("user", result("a", '{ "t": 20 }'), result("b", "no", { isError: true })),
    ],
  });
  assertEquals(body.contents[1].parts[0].functionCall.args, { _raw: '{"x":' });
  assertEquals(body.contents[1].parts[1].functionCall.args, { input: "free" });
  assertEquals(responsesIn(body, 2), [["a", { t: 20 }], ["b", { error: "no" }]]);
});

for (const text of ['{"output":"x"}', '{"error":"x"}', "{}", "[1]", '{"id":9007199254740993}', '{"a":1,"a":2}']) {
  Deno.test(`writeRequest keeps the result ${text} as text, because an object would not be equivalent`, () => {
    const { body } = write({ turns: [HI, say("assistant", call("a", "f")), say("user", result("a", text))] });
    assertEquals(responsesIn(body, 2)[0]![1], { output: text });
  });
}

Deno.test("writeRequest puts an image of a result inside for newer models, and after all responses for others", () => {
  const image: Part = { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } };
  const turns = [
    HI,
    say("assistant", call("a", "f"), call("b", "f")),
    say("user", result("a", "x", { parts: [{ kind: "text", text: "see" }, image] }), result("b", "y")),
  ];
  const inlineData = { mimeType: "image/png", data: "AAAA" };
  const newer = write({ turns });
  assertEquals(newer.body.contents[2].parts[0].functionResponse.parts, [{ inlineData }]);
  assertEquals(newer.droppedFields, []);
  const older = write({ turns }, { model: "gemini-2.5-pro" });
  assertEquals(older.body.contents[2].parts.map((part: JsonObject) => Object.keys(part)[0]), [
    "functionResponse",
    "functionResponse",
    "inlineData",
  ]);
  assertStringIncludes(older.body.contents[2].parts[0].functionResponse.response.output, "see");
  assertEquals(older.droppedFields, ["tool_result_image"]);
});

const ADDRESSES: readonly (readonly [url: string, needs: boolean])[] = [
  ["gs://bucket/a.png", false],
  ["https://generativelanguage.googleapis.com/v1beta/files/abc", false],
  ["https://www.youtube.com/watch?v=1", false],
  ["https://youtu.be/1", false],
  ["https://m.youtube.com/watch?v=1", false],
  ["https://example.org/a.png", true],
  ["http://youtu.be.evil.example/1", true],
  ["https://evil.example/?https://youtu.be/1", true],
  ["https://generativelanguage.googleapis.com.evil.example/v1beta/files/1", true],
  ["not an address", true],
];

for (const [url, needs] of ADDRESSES) {
  Deno.test(`needsInlining returns ${needs} for ${url}, and writeRequest agrees`, () => {
    const source = { kind: "url" as const, url, mediaType: null };
    assertEquals(needsInlining(source), needs);
    const turns = [say("user", { kind: "image", source })];
    if (!needs) assertEquals(write({ turns }).body.contents[0].parts[0].fileData.fileUri, url);
    else {
      const error = assertThrows(() => write({ turns }), GatewayError, "not fetched");
      assertEquals(error.code, "invalid_request");
      assertEquals(error.message.includes(url), false);
    }
  });
}

Deno.test("writeRequest passes a tool's schema without $schema only, and no schema for a tool without arguments", () => {
  const schema = { $schema: "x", type: "object", properties: { a: { const: 1 } }, additionalProperties: false };
  const empty = { $schema: "x", type: "object", properties: {}, additionalProperties: false };
  const { body } = write({
    tools: [
      { kind: "function", name: "f", description: "does", parameters: schema, strict: null },
      { kind: "function", name: "g", description: null, parameters: empty, strict: null },
      { kind: "function", name: "h", description: null, parameters: null, strict: null },
    ],
  });
  const { $schema: _, ...parametersJsonSchema } = schema;
  assertEquals(body.tools, [{
    functionDeclarations: [{ name: "f", description: "does", parametersJsonSchema }, { name: "g" }, { name: "h" }],
  }]);
});

Deno.test("writeRequest offers a free-text tool as a function of one text", () => {
  const { body, droppedFields } = write({ tools: [{ kind: "custom", name: "sh", description: "runs", format: null }] });
  assertEquals(body.tools[0].functionDeclarations[0].parametersJsonSchema, {
    type: "object",
    properties: { input: { type: "string", description: "The whole input of the tool, as plain text" } },
    required: ["input"],
    additionalProperties: false,
  });
  assertEquals(droppedFields, []);
});

Deno.test("writeRequest sanitizes names consistently, and returns which", () => {
  const name = "1 tool with spaces";
  const wire = wireToolName(name);
  const { body, toolNames } = write({
    tools: [
      { kind: "function", name, description: null, parameters: null, strict: null },
      { kind: "function", name: "fine", description: null, parameters: null, strict: null },
    ],
    toolChoice: { kind: "tool", tool: name },
    turns: [HI, say("assistant", call("a", name)), say("user", result("a", "x"))],
  });
  assertEquals(/^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/.test(wire), true);
  assertEquals(body.tools[0].functionDeclarations[0].name, wire);
  assertEquals(body.toolConfig.functionCallingConfig.allowedFunctionNames, [wire]);
  assertEquals(body.contents[1].parts[0].functionCall.name, wire);
  assertEquals(body.contents[2].parts[0].functionResponse.name, wire);
  assertEquals([...toolNames!], [[wire, name]]);
});

Deno.test("wireToolName keeps valid names, truncates long ones, and keeps different names different", () => {
  assertEquals(wireToolName("mcp__a.b:c-d"), "mcp__a.b:c-d");
  const long = "x".repeat(100);
  assertEquals(wireToolName(long).length, 64);
  assertEquals(wireToolName(long) === wireToolName(`${long}y`), false);
  assertEquals(wireToolName("a b") === wireToolName("a_b"), false);
});

const CHOICES: readonly (readonly [choice: Conversation["toolChoice"], config: unknown])[] = [
  [null, undefined],
  [{ kind: "auto" }, { mode: "AUTO" }],
  [{ kind: "none" }, { mode: "NONE" }],
  [{ kind: "required" }, { mode: "ANY" }],
  [{ kind: "tool", tool: "f" }, { mode: "ANY", allowedFunctionNames: ["f"] }],
  [{ kind: "allowed", mode: "required", tools: ["f", "gone"] }, { mode: "ANY", allowedFunctionNames: ["f"] }],
  [{ kind: "allowed", mode: "auto", tools: ["f"] }, { mode: "VALIDATED", allowedFunctionNames: ["f"] }],
  [{ kind: "allowed", mode: "auto", tools: ["gone"] }, { mode: "NONE" }],
];

for (const [toolChoice, config] of CHOICES) {
  Deno.test(`writeRequest writes the choice ${JSON.stringify(toolChoice)}`, () => {
    const tool = { kind: "function" as const, name: "f", description: null, parameters: null, strict: null };
    assertEquals(write({ toolChoice, tools: [tool] }).body.toolConfig?.functionCallingConfig, config);
    assertEquals(write({ toolChoice }).body.toolConfig, undefined);
  });
}

Deno.test("writeRequest requests strict tools by VALIDATED, when the choice is free and all are strict", () => {
  const tool = { kind: "function" as const, name: "f", description: null, parameters: null, strict: true };
  const free = write({ tools: [tool] });
  assertEquals(free.body.toolConfig.functionCallingConfig, { mode: "VALIDATED" });
  assertEquals(free.droppedFields, []);
  assertEquals(write({ tools: [tool], toolChoice: { kind: "required" } }).droppedFields, ["tool_strict"]);
  assertEquals(write({ tools: [tool, { ...tool, name: "g", strict: null }] }).droppedFields, ["tool_strict"]);
  assertEquals(write({ tools: [tool], parallelToolCalls: false }).droppedFields, ["parallel_tool_calls"]);
});

type Thinking = readonly [model: string, reasoning: Conversation["reasoning"], config: unknown];

const THINKING: readonly Thinking[] = [
  ["gemini-3-flash", { effort: "high", budgetTokens: null, visible: true }, {
    thinkingLevel: "HIGH",
    includeThoughts: true,
  }],
  ["gemini-3-flash", { effort: "max", budgetTokens: null, visible: null }, { thinkingLevel: "HIGH" }],
  ["gemini-3-flash", { effort: "minimal", budgetTokens: null, visible: null }, { thinkingLevel: "MINIMAL" }],
  ["gemini-3-flash", { effort: "none", budgetTokens: null, visible: true }, { thinkingLevel: "MINIMAL" }],
  ["gemini-3-flash", { effort: null, budgetTokens: 9000, visible: null }, { thinkingLevel: "HIGH" }],
  ["gemini-3-flash", { effort: null, budgetTokens: 1000, visible: null }, { thinkingLevel: "LOW" }],
  ["gemini-3-pro-preview", { effort: "none", budgetTokens: null, visible: null }, { thinkingLevel: "LOW" }],
  ["gemini-3-pro-preview", { effort: "medium", budgetTokens: null, visible: null }, { thinkingLevel: "HIGH" }],
  ["gemini-3.1-pro", { effort: "medium", budgetTokens: null, visible: null }, { thinkingLevel: "MEDIUM" }],
  ["gemini-2.5-flash", { effort: "none", budgetTokens: null, visible: null }, { thinkingBudget: 0 }],
  ["gemini-2.5-pro", { effort: "none", budgetTokens: null, visible: null }, { thinkingBudget: 128 }],
  ["gemini-2.5-flash", { effort: "low", budgetTokens: null, visible: null }, { thinkingBudget: 1024 }],
  ["gemini-2.5-flash", { effort: "medium", budgetTokens: null, visible: false }, {
    thinkingBudget: 3000,
    includeThoughts: false,
  }],
  ["gemini-2.5-flash", { effort: "low", budgetTokens: 31999, visible: null }, { thinkingBudget: 24576 }],
  ["gemini-2.5-flash", { effort: null, budgetTokens: null, visible: true }, { includeThoughts: true }],
  ["gemini-2.0-flash", { effort: "high", budgetTokens: null, visible: true }, undefined],
];

for (const [model, reasoning, config] of THINKING) {
  Deno.test(`writeRequest requests reasoning of ${model} as in ${JSON.stringify(reasoning)}`, () => {
    const { body } = write({ reasoning, maxOutputTokens: 10_000 }, { model });
    assertEquals(body.generationConfig.thinkingConfig, config);
  });
}

Deno.test("writeRequest sets a JSON format, and describes it to older models that also have tools", () => {
  const schema = { $schema: "x", type: "object", properties: { a: { type: "string" } } };
  const outputFormat = { kind: "json_schema" as const, name: "a", description: null, schema, strict: true };
  assertEquals(write({ outputFormat }).body.generationConfig, {
    responseMimeType: "application/json",
    responseJsonSchema: { type: "object", properties: { a: { type: "string" } } },
  });
  assertEquals(write({ outputFormat: { kind: "json" } }).body.generationConfig, {
    responseMimeType: "application/json",
  });
  const tools = [{ kind: "function" as const, name: "f", description: null, parameters: null, strict: null }];
  const older = write({ outputFormat, tools }, { model: "gemini-2.5-flash" });
  assertEquals(older.body.generationConfig, undefined);
  assertStringIncludes(older.body.systemInstruction.parts[0].text, '"type":"object"');
  assertEquals(older.droppedFields, ["output_format", "output_name"]);
  assertEquals(write({ outputFormat, tools }).droppedFields, ["output_name"]);
});

Deno.test("writeRequest observes the vendor's limits and reports what it drops", () => {
  const { body, droppedFields } = write({
    maxOutputTokens: 32_000,
    sampling: { ...NO_SAMPLING, seed: 2 ** 40, stop: ["1", "2", "3", "4", "5", "6"] },
    user: "u",
    cacheKey: "k",
    verbosity: "low",
  }, { maxOutputTokens: 8192 });
  assertEquals(body.generationConfig, { maxOutputTokens: 8192, stopSequences: ["1", "2", "3", "4", "5"] });
  assertEquals(droppedFields, ["seed", "stop", "max_tokens", "user", "prompt_cache_key", "verbosity"]);
});

Deno.test("writeRequest reports cache marks, names of files, citations and refusals", () => {
  const cache = { ttl: null };
  const source = { kind: "base64" as const, mediaType: "application/pdf", data: "AAAA" };
  const citations = [{ url: "https://example.org", title: null, start: null, end: null }];
  const { body, droppedFields } = write({
    instructions: [{ kind: "text", text: "be kind", cache }],
    turns: [
      say("user", { kind: "file", source, name: "a.pdf" }),
      say("assistant", { kind: "text", text: "x", citations }, { kind: "refusal", text: "no" }),
    ],
  });
  assertEquals(body.systemInstruction, { parts: [{ text: "be kind" }] });
  assertEquals(body.contents[1].parts, [{ text: "x" }, { text: "no" }]);
  assertEquals(droppedFields.toSorted(), ["cache_control", "citations", "file_name", "refusal"]);
});

Deno.test("writeRequest sets one resolution for all images", () => {
  const image = (detail?: string): Part => ({
    kind: "image",
    source: { kind: "base64", mediaType: "image/png", data: "AAAA" },
    ...(detail ? { detail } : {}),
  });
  const low = write({ turns: [say("user", image("low"))] });
  assertEquals(low.body.generationConfig, { mediaResolution: "MEDIA_RESOLUTION_LOW" });
  assertEquals(low.droppedFields, []);
  const mixed = write({ turns: [say("user", image("low"), image("high"))] });
  assertEquals(mixed.body.generationConfig, { mediaResolution: "MEDIA_RESOLUTION_HIGH" });
  assertEquals(mixed.droppedFields, ["image_detail"]);
  assertEquals(write({ turns: [say("user", image("auto"), image())] }).body.generationConfig, undefined);
});

Deno.test("writeRequest uses older fields for compatible vendors", () => {
  const schema = { type: "object", properties: { a: { type: ["string", "null"] } }, additionalProperties: false };
  const { body } = write({
    tools: [{ kind: "function", name: "f", description: null, parameters: schema, strict: null }],
    outputFormat: { kind: "json_schema", name: "a", description: null, schema, strict: null },
  }, { quirks: RESEMBLING_QUIRKS });
  const written = { type: "OBJECT", properties: { a: { type: "STRING", nullable: true } } };
  assertEquals(body.tools[0].functionDeclarations, [{ name: "f", parameters: written }]);
  assertEquals(body.generationConfig, { responseMimeType: "application/json", responseSchema: written });
});
