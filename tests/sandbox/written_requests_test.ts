import * as fc from "fast-check";
import { chat } from "../../src/conversation/codecs/chat/mod.ts";
import { content } from "../../src/conversation/codecs/content/mod.ts";
import { messages } from "../../src/conversation/codecs/messages/mod.ts";
import { responses } from "../../src/conversation/codecs/responses/mod.ts";
import type { WireFormat } from "../../src/conversation/contract/format.ts";
import type {
  Conversation,
  FilePart,
  ImagePart,
  OutputFormat,
  Part,
  ReasoningPart,
  RefusalPart,
  TextPart,
  Tool,
  ToolCallPart,
  ToolChoice,
  ToolResultPart,
  Turn,
} from "../../src/conversation/neutral/conversation.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { checkMessage } from "../../src/sandbox/families/anthropic/anthropic_rules.ts";
import { checkGenerate } from "../../src/sandbox/families/google/google_rules.ts";
import { checkChat } from "../../src/sandbox/families/openai/openai_chat_rules.ts";
import { checkResponses } from "../../src/sandbox/families/openai/openai_responses_rules.ts";
import { issueSignature } from "../../src/sandbox/signatures.ts";
import { conversationOf, targetOf } from "../support/conversations.ts";
import { itemAt } from "../support/items.ts";

const PROVIDER = "vendor";
const forms = fc.constantFrom("chat", "responses", "messages", "content");
const texts = fc.constantFrom("Hi", "Some json, please", "x", "two words ", " \n");

const text: fc.Arbitrary<TextPart> = fc.record({ kind: fc.constant("text"), text: texts });
/** Some clients leave it in a tool's result. */
const empty: fc.Arbitrary<TextPart> = fc.constant({ kind: "text", text: "" });
const refusal: fc.Arbitrary<RefusalPart> = fc.record({ kind: fc.constant("refusal"), text: texts });
const file: fc.Arbitrary<FilePart> = fc.record({
  kind: fc.constant("file"),
  source: fc.record({
    kind: fc.constant("base64"),
    mediaType: fc.constantFrom("application/pdf", "text/plain"),
    data: fc.constant("SGk="),
  }),
  name: fc.constantFrom("a.pdf", null),
});
const marked: fc.Arbitrary<TextPart> = fc.record({
  kind: fc.constant("text"),
  text: texts,
  cache: fc.record({ ttl: fc.constantFrom("5m", "1h", null) }),
});
const image: fc.Arbitrary<ImagePart> = fc.constant({
  kind: "image",
  source: { kind: "base64", mediaType: "image/png", data: "AAAA" },
});
/** Reasoning of this provider, in any format, and of another provider. */
const reasoning: fc.Arbitrary<ReasoningPart> = fc.tuple(texts, forms, fc.boolean()).map(([thought, form, isOwn]) => ({
  kind: "reasoning",
  text: thought,
  signature: { ...issueSignature(form, thought), issuer: isOwn ? PROVIDER : "other" },
}));
const ids = fc.constantFrom("a", "call_1", "x".repeat(70), "sp ace", "toolu_1.b");
const names = fc.constantFrom("f", "my tool", "n".repeat(90), "1a", "a.b:c");
const call: fc.Arbitrary<ToolCallPart> = fc.record({
  kind: fc.constant("tool_call"),
  callId: ids,
  tool: names,
  input: fc.constantFrom("{}", '{"a":1}', "[1]", "not json"),
});
const result: fc.Arbitrary<ToolResultPart> = fc.record({
  kind: fc.constant("tool_result"),
  callId: ids,
  tool: fc.constant(null),
  parts: fc.array(fc.oneof(text, empty, image), { maxLength: 3 }),
  isError: fc.boolean(),
});

const userTurn = fc.tuple(
  fc.array(result, { maxLength: 3 }),
  fc.array(fc.oneof(text, marked, image, file), { minLength: 1 }),
)
  .map(([results, parts]): Turn => ({ role: "user", parts: [...results, ...parts] }));
const spoken = fc.oneof<fc.Arbitrary<Part>[]>(text, refusal, reasoning, call);
const assistantTurn = fc.array(spoken, { minLength: 1, maxLength: 5 })
  .map((parts): Turn => ({ role: "assistant", parts }));
const systemTurn = text.map((part): Turn => ({ role: "system", parts: [part] }));
/** Adjacent messages have different roles. */
const turns = fc.array(fc.oneof(userTurn, assistantTurn, systemTurn), { maxLength: 6 })
  .map((all) => all.filter(({ role }, at) => role !== all[at - 1]?.role));

/** Schemas as callers of any format send them, for a tool's arguments and for a reply. */
const SCHEMAS = [
  { type: "object", properties: {} },
  { type: "object", properties: { a: { type: ["string", "null"], minLength: 2 } }, required: ["a"] },
  { type: "object", properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { enum: ["x"] } }, $schema: "http://x" },
  { type: "object", properties: { n: { type: "integer", minimum: 1 } }, required: ["n"], additionalProperties: false },
  {},
  { type: "object" },
  { type: "string" },
  { type: "array", items: { type: "string" } },
  { type: ["object", "null"], properties: { a: {} } },
  { enum: ["a", "b"] },
  { type: "object", properties: { a: {} }, not: { required: ["b"] } },
  { $ref: "#/$defs/A", $defs: { A: { type: "object", properties: { a: {} } } } },
  ...["anyOf", "oneOf", "allOf"].map((choice) => ({
    [choice]: [
      { type: "object", properties: { a: { const: 1 } }, required: ["a"], additionalProperties: false },
      { $ref: "#/$defs/B" },
      { type: "null" },
    ],
    $defs: { B: { properties: { a: { const: 2 } }, required: ["a"], additionalProperties: false } },
  })),
];

const functionTool: fc.Arbitrary<Tool> = fc.record({
  kind: fc.constant("function"),
  name: names,
  description: fc.constantFrom("What it does", null),
  parameters: fc.constantFrom(null, ...SCHEMAS),
  strict: fc.constantFrom(true, false, null),
});
const customTool: fc.Arbitrary<Tool> = fc.record({
  kind: fc.constant("custom"),
  name: names,
  description: fc.constant(null),
  format: fc.constant(null),
});
const tool = fc.oneof({ weight: 4, arbitrary: functionTool }, { weight: 1, arbitrary: customTool });

const outputFormat: fc.Arbitrary<OutputFormat | null> = fc.oneof(
  fc.constant(null),
  fc.constant({ kind: "json" } as const),
  fc.record({
    kind: fc.constant("json_schema"),
    name: fc.constantFrom("my answer", "", "n".repeat(90)),
    description: fc.constant(null),
    schema: fc.constantFrom(...SCHEMAS),
    strict: fc.constantFrom(true, false, null),
  }),
);

/** Names that callers create, short ones and ones above the vendor's maximum. */
const keys = fc.constantFrom(null, "k", "k".repeat(64), "k".repeat(65), "🙂".repeat(50));

const conversations: fc.Arbitrary<Conversation> = fc.record({
  instructions: fc.array(fc.oneof(text, marked), { maxLength: 2 }),
  turns,
  tools: fc.uniqueArray(tool, { maxLength: 3, selector: ({ name }) => name }),
  toolChoice: fc.constantFrom(null, "auto", "none", "required", "tool", "allowed"),
  parallelToolCalls: fc.constantFrom(true, false, null),
  outputFormat,
  user: keys,
  cacheKey: keys,
  maxOutputTokens: fc.constantFrom(null, 1, 500, 100_000),
  temperature: fc.constantFrom(null, 0.5, 1, 2),
  topP: fc.constantFrom(null, 0.1, 1),
  stop: fc.array(fc.constantFrom("a", " ", "b", "c", "d", "e"), { maxLength: 7 }),
  effort: fc.constantFrom(null, "none", "minimal", "medium", "max"),
  budgetTokens: fc.constantFrom(null, 0, 10, 2000, 50_000),
  stream: fc.boolean(),
}).map(({ toolChoice, temperature, topP, stop, effort, budgetTokens, ...fields }) => {
  return conversationOf({
    ...fields,
    toolChoice: choiceOf(toolChoice, fields.tools),
    sampling: {
      temperature,
      topP,
      topK: 5,
      presencePenalty: 1,
      frequencyPenalty: null,
      seed: 2 ** 40,
      stop,
    },
    reasoning: effort === null && budgetTokens === null ? null : { effort, budgetTokens, visible: true },
  });
});

function choiceOf(kind: string | null, tools: readonly Tool[]): ToolChoice | null {
  if (tools.length === 0) return null;
  switch (kind) {
    case "auto":
    case "none":
    case "required":
      return { kind };
    case "tool":
      return { kind, tool: itemAt(tools, 0).name };
    case "allowed":
      return { kind, mode: "required", tools: [itemAt(tools, 0).name] };
    default:
      return null;
  }
}

/** Enough for each model to meet every kind of setting. */
const RUNS = 600;

/** Checks that the vendor accepts every request that a codec writes. What the codec refuses itself is not sent. */
function vendorTakes(
  codec: WireFormat,
  check: (body: JsonObject, model: string) => void,
  models: readonly string[],
): void {
  Deno.test(`${codec.caller.name} codec: every written request satisfies the vendor's rules`, () => {
    fc.assert(
      fc.property(conversations, fc.constantFrom(...models), (conversation, model) => {
        const body = writtenBody(codec, conversation, model);
        if (body !== null) check(body, model);
      }),
      { numRuns: RUNS },
    );
  });
}

/** The body that a codec writes; null if it refuses the request in the gateway's own words. */
function writtenBody(codec: WireFormat, conversation: Conversation, model: string): JsonObject | null {
  try {
    return codec.upstream.writeRequest(conversation, targetOf({ model, provider: PROVIDER })).body;
  } catch (error) {
    if (error instanceof GatewayError && error.code === "invalid_request") return null;
    throw error;
  }
}

/** Without reasoning in the vendor's own form, which only vendors that issue it get back; OpenAI issues none. */
function withoutOwnReasoning({ messages, ...body }: JsonObject): JsonObject {
  return { ...body, messages: (messages as JsonObject[]).map(({ reasoning_details: _, ...message }) => message) };
}

vendorTakes(chat, (body) => checkChat(withoutOwnReasoning(body)), [
  ...["m", "gpt-4.1", "gpt-5", "o3", "gpt-5.1", "gpt-5.2", "gpt-5.4", "gpt-5.5", "gpt-5.6-terra", "gpt-6-sol"],
  ...["gpt-6-astra", "gpt-6.1-sol", "gpt-6.2-sol"],
]);
vendorTakes(responses, checkResponses, [
  ...["m", "gpt-4.1", "gpt-5", "o3", "gpt-5-pro", "gpt-5.1", "gpt-5.3-codex", "gpt-5.4", "gpt-5.5-pro", "gpt-5.6-sol"],
  ...["gpt-6-luna", "gpt-6.1-terra", "gpt-6.2-astra", "gpt-9"],
]);
vendorTakes(messages, checkMessage, [
  ...["m", "claude-3-5-haiku", "claude-3-7-sonnet", "claude-opus-4-1", "claude-sonnet-4-5", "claude-opus-4-6"],
  ...[
    "claude-opus-4-7",
    "claude-opus-4-8",
    "claude-opus-5",
    "claude-sonnet-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
  ],
  ...["claude-opus-5-5", "claude-fable-5", "claude-fable-5-2", "claude-future-9"],
]);
vendorTakes(content, checkGenerate, [
  ...["m", "gemini-2.0-flash", "gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-3-pro"],
  ...[
    "gemini-3.1-pro-preview",
    "gemini-3.6-flash",
    "gemini-3.8-flash",
    "gemini-4-argon",
    "gemini-4-neon",
    "gemini-9-x",
  ],
]);
