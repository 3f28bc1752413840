import { assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { joinedTexts } from "../../src/conversation/parts/request/joined_texts.ts";
import {
  type Conversation,
  NO_SAMPLING,
  type Part,
  type Tool,
  type Turn,
} from "../../src/conversation/neutral/conversation.ts";
import { conversationOf } from "../support/conversations.ts";
import { asRead, CODECS, FORMATS, PAIRS, serialized, TARGETS, throughFormat } from "../support/formats.ts";
import { itemAt } from "../support/items.ts";

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }).filter((value) => value.trim() === value);
const name = fc.stringMatching(/^[a-z_][a-z0-9_]{0,12}$/);
/** Names and ids that only some formats allow. */
const anyName = fc.oneof(name, fc.constantFrom("mcp.files/read", "2nd-tool", "n".repeat(90), "héllo"));
const anyId = fc.oneof(name, fc.constantFrom("toolu_01", "call.GW-1.x", `call_${"i".repeat(70)}`));
const json = fc.dictionary(name, fc.oneof(fc.integer(), text, fc.boolean()), { noNullPrototype: true });
const base64 = fc.uint8Array({ minLength: 1, maxLength: 9 }).map((bytes) => btoa(String.fromCharCode(...bytes)));
const textPart = text.map((value) => ({ kind: "text" as const, text: value }));
const image = base64.map((data) => ({
  kind: "image" as const,
  source: { kind: "base64" as const, mediaType: "image/png", data: `iVBORw0KGgoA${data}` },
}));
const file = base64.map((data) => ({
  kind: "file" as const,
  source: { kind: "base64" as const, mediaType: "application/pdf", data },
  name: "a.pdf",
}));

const step = fc.record({
  asked: fc.array(fc.oneof(textPart, image, file), { minLength: 1, maxLength: 3 }),
  said: fc.array(textPart, { minLength: 1, maxLength: 2 }),
  calls: fc.array(
    fc.record({
      id: anyId,
      tool: anyName,
      input: json,
      isError: fc.boolean(),
      parts: fc.array(textPart, { maxLength: 2 }),
    }),
    { maxLength: 3 },
  ),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function turnsOf(steps: readonly Step[]): Turn[] {
  const turns: Turn[] = [];
  let results: Part[] = [];
  steps.forEach(({ asked, said, calls }, at) => {
    const called = calls.map(({ id, tool, input }, index) => ({
      kind: "tool_call" as const,
      callId: `${id}_${at}${index}`,
      tool,
      input: JSON.stringify(input),
    }));
    turns.push({ role: "user", parts: [...results, ...asked] }, {
      role: "assistant",
      parts: [...joinedTexts(said), ...called],
    });
    results = called.map(({ callId, tool }, index) => {
      const { parts, isError } = itemAt(calls, index);
      return { kind: "tool_result", callId, tool, parts, isError };
    });
  });
  return [...turns, { role: "user", parts: [...results, { kind: "text", text: "Go on" }] }];
}

const tool: fc.Arbitrary<Tool> = fc.record({
  kind: fc.constant("function" as const),
  name: anyName,
  description: fc.option(text),
  parameters: fc.constantFrom(null, { type: "object", properties: { a: { type: "string" } }, required: ["a"] }),
  strict: fc.constantFrom(null, true),
});
const share = fc.option(fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10));

const conversation: fc.Arbitrary<Conversation> = fc.record({
  instructions: fc.array(textPart, { maxLength: 2 }),
  turns: fc.array(step, { minLength: 1, maxLength: 3 }).map(turnsOf),
  tools: fc.uniqueArray(tool, { selector: (one) => one.name, minLength: 1, maxLength: 3 }),
  choice: fc.constantFrom("auto", "none", "required", "tool", "allowed", null),
  parallelToolCalls: fc.option(fc.boolean()),
  outputFormat: fc.constantFrom<Conversation["outputFormat"]>(null, { kind: "json" }, {
    kind: "json_schema",
    name: "shape",
    description: null,
    schema: { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false },
    strict: null,
  }),
  maxOutputTokens: fc.option(fc.integer({ min: 16, max: 30_000 })),
  sampling: fc.record({
    temperature: share,
    topP: share,
    topK: fc.option(fc.integer({ min: 1, max: 40 })),
    presencePenalty: share,
    frequencyPenalty: share,
    seed: fc.option(fc.integer({ min: 0, max: 1e6 })),
    stop: fc.array(text, { maxLength: 4 }),
  }).map((some) => ({ ...NO_SAMPLING, ...some })),
  stream: fc.boolean(),
  user: fc.option(name),
  cacheKey: fc.option(name),
  verbosity: fc.constantFrom("low", null),
}).map(({ choice, ...rest }) => {
  const names = rest.tools.map((one) => one.name);
  const toolChoice = choice === "tool"
    ? { kind: choice, tool: itemAt(names, 0) }
    : choice === "allowed"
    ? { kind: choice, mode: "auto" as const, tools: names.slice(0, 1) }
    : choice && { kind: choice };
  return conversationOf({ ...rest, toolChoice });
});

/** A conversation without the spelling of any format. */
function gistOf({ turns, tools, toolChoice, ...rest }: Conversation, nameOf: (wire: string) => string) {
  // Tools that may not be called are not sent in formats that cannot express it.
  const offered = toolChoice?.kind === "allowed" ? tools.filter(({ name }) => toolChoice.tools.includes(name)) : tools;
  const calls = turns.flatMap((turn) => turn.parts).filter((part) => part.kind === "tool_call");
  const places = new Map(calls.map((call, at) => [call.callId, at]));
  return {
    instructions: rest.instructions.map((part) => part.text).join("\n\n"),
    turns: turns.map(({ role, parts }) => ({ role, parts: parts.flatMap((part) => partGist(part, places, nameOf)) })),
    tools: offered.map((one) => nameOf(one.name)),
  };
}

function partGist(part: Part, places: ReadonlyMap<string, number>, nameOf: (wire: string) => string): unknown[] {
  switch (part.kind) {
    case "tool_call":
      return [["call", places.get(part.callId), nameOf(part.tool), JSON.parse(part.input)]];
    case "tool_result":
      return [["result", places.get(part.callId), resultText(part.parts)]];
    case "text":
      return [part.text];
    case "image":
    case "file":
      return [part.source];
    default:
      return [part.kind];
  }
}

/** The text of a result. Formats without a field for failed tools prefix it. */
function resultText(parts: readonly Part[]): string {
  const said = parts.map((part) => part.kind === "text" ? part.text : part.kind).join("\n");
  return said.replace(/^Error(: |$)(the tool failed without a message\.)?/, "");
}

/** Settings by the name under which they are dropped; null for a vendor's default. */
function settingsOf(asked: Conversation): Record<string, unknown> {
  const { sampling } = asked;
  return {
    temperature: sampling.temperature === 1 ? null : sampling.temperature,
    top_p: sampling.topP === 1 ? null : sampling.topP,
    top_k: sampling.topK,
    presence_penalty: sampling.presencePenalty || null,
    frequency_penalty: sampling.frequencyPenalty || null,
    seed: sampling.seed,
    stop: sampling.stop.length === 0 ? null : sampling.stop,
    max_tokens: asked.maxOutputTokens,
    parallel_tool_calls: asked.parallelToolCalls === false && asked.toolChoice?.kind !== "none" ? false : null,
    tool_choice: asked.toolChoice && /none|required|tool/.test(asked.toolChoice.kind) ? asked.toolChoice.kind : null,
    output_format: asked.outputFormat?.kind ?? null,
    user: asked.user,
    prompt_cache_key: asked.cacheKey,
    verbosity: asked.verbosity,
  };
}

function assertKept(
  before: Conversation,
  after: Conversation,
  droppedFields: readonly string[],
  names: ReadonlyMap<string, string>,
) {
  const { instructions, ...told } = gistOf(after, (wire) => names.get(wire) ?? wire);
  const { instructions: asked, ...meant } = gistOf(before, (wire) => wire);
  assertEquals(told, meant);
  // A format that cannot enforce an output format describes it in the instructions.
  if (before.outputFormat === null) assertEquals(instructions, asked);
  else assertStringIncludes(instructions, asked);
  const now = settingsOf(after);
  for (const [setting, value] of Object.entries(settingsOf(before))) {
    // Settings may be added: one format requires a limit.
    if (value !== null && !droppedFields.includes(setting)) assertEquals(now[setting], value, setting);
  }
}

for (const [from, to] of PAIRS) {
  Deno.test(`a conversation read from ${from} and written as ${to} is the same except for the reported fields`, () => {
    fc.assert(
      fc.property(conversation, (asked) => {
        const first = throughFormat(from, asked);
        const { read, body, droppedFields, toolNames } = throughFormat(to, first.read);
        CODECS[to].caller.check(asRead(to, body, asked.stream));
        assertKept(first.read, read, droppedFields, toolNames ?? new Map());
      }),
      { numRuns: 80 },
    );
  });
}

for (const form of FORMATS) {
  Deno.test(`writing a conversation as ${form} twice gives the same bytes, so that prompts stay cached`, () => {
    fc.assert(
      fc.property(conversation, (asked) => {
        const write = () => JSON.stringify(CODECS[form].upstream.writeRequest(asked, TARGETS[form]).body);
        assertEquals(write(), write());
        const shorter = { ...asked, turns: asked.turns.slice(0, -2) };
        if (shorter.turns.length === 0) return;
        assertEquals(
          serialized(CODECS[form].upstream.writeRequest(shorter, TARGETS[form]).body).tools,
          serialized(JSON.parse(write())).tools,
        );
      }),
      { numRuns: 30 },
    );
  });
}
