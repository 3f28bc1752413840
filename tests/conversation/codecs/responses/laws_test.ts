import { eventReaderOf } from "../../../support/event_reader.ts";
import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { readableInput } from "../../../../src/conversation/parts/request/call_input.ts";
import type { Frame } from "../../../../src/platform/lib/streams/frame.ts";
import { responses } from "../../../../src/conversation/codecs/responses/mod.ts";
import type { Conversation, Part, Tool, Turn } from "../../../../src/conversation/neutral/conversation.ts";
import { EFFORTS, NO_SAMPLING } from "../../../../src/conversation/neutral/conversation.ts";
import type { ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import { UNKNOWN_FACTS } from "../../../../src/conversation/facts/model_facts.ts";
import type { Reply, ReplyPart } from "../../../../src/conversation/neutral/reply.ts";
import type { Usage } from "../../../../src/conversation/neutral/usage.ts";
import { asCounted, replyOf } from "../../../support/assemble.ts";
import { atLeast } from "../../../support/items.ts";
import { CONTEXT, TARGET } from "./context.ts";

const RUNS = { numRuns: 150 };
const words = fc.string({ unit: "binary", minLength: 1, maxLength: 40 }).filter((text) => text.isWellFormed());
const base64 = fc.base64String({ minLength: 4, maxLength: 40 });
const callId = fc.stringMatching(/^call_[a-zA-Z0-9]{1,20}$/);
const toolName = fc.stringMatching(/^[a-zA-Z0-9_-]{1,30}$/);
/** Arguments as they are read: blank ones are an empty object. */
const json = fc.json({ maxDepth: 2 }).map(readableInput);
const ownSignature = base64.map((value) => ({ format: "responses", issuer: null, value }) as const);
const image = fc.record({ kind: fc.constant("image" as const), source: mediaSource("image/png") });

function mediaSource(mediaType: string) {
  return base64.map((data) => ({ kind: "base64", mediaType, data }) as const);
}

const textPart = words.map((text): Part => ({ kind: "text", text }));
const userPart: fc.Arbitrary<Part> = fc.oneof(
  textPart,
  image,
  fc.webUrl().map((url): Part => ({ kind: "image", source: { kind: "url", url, mediaType: null }, detail: "low" })),
  mediaSource("application/pdf").map((source): Part => ({ kind: "file", source, name: "a.pdf" })),
);
const resultParts = fc.oneof(
  fc.constant([]),
  fc.tuple(textPart),
  fc.array(fc.oneof(textPart, image), { minLength: 2, maxLength: 3 }),
);

/** One exchange with everything that this format can express: reasoning, text, calls, results and user text. */
const exchange: fc.Arbitrary<Turn[]> = fc.record({
  thoughts: fc.array(fc.tuple(fc.option(words, { nil: "" }), ownSignature), { maxLength: 2 }),
  said: fc.oneof(textPart, words.map((text): Part => ({ kind: "refusal", text }))),
  calls: fc.uniqueArray(fc.tuple(callId, toolName, json, fc.boolean(), resultParts), {
    maxLength: 3,
    selector: ([id]) => id,
  }),
  added: fc.array(userPart, { minLength: 1, maxLength: 3 }),
  rule: fc.option(textPart),
}).map(({ thoughts, said, calls, added, rule }) => [
  {
    role: "assistant",
    parts: [
      ...thoughts.map(([text, signature]): Part => ({ kind: "reasoning", text, signature })),
      said,
      ...calls.map(([id, tool, input, custom]): Part => ({
        kind: "tool_call",
        callId: id,
        tool,
        input,
        ...(custom ? { custom } : {}),
      })),
    ],
  },
  {
    role: "user",
    parts: [
      ...calls.map(([id, tool, , custom, parts]) => ({
        kind: "tool_result",
        callId: id,
        tool,
        parts,
        isError: false,
        ...(custom ? { custom } : {}),
      })) as Part[],
      ...added,
    ],
  },
  ...(rule ? [{ role: "system", parts: [rule] }, { role: "user", parts: added }] as Turn[] : []),
]);

/** Makes the ids of calls unique across exchanges. */
function numbered(turns: Turn[], at: number): Turn[] {
  return turns.map((turn) => ({
    ...turn,
    parts: turn.parts.map((part) => "callId" in part ? { ...part, callId: `${part.callId}_${at}` } : part),
  }));
}

const tool: fc.Arbitrary<Tool> = fc.oneof(
  fc.record({
    kind: fc.constant("function" as const),
    name: toolName,
    description: fc.option(words),
    parameters: fc.constant({ type: "object", properties: {}, additionalProperties: false }),
    strict: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("custom" as const),
    name: toolName,
    description: fc.option(words),
    format: fc.constantFrom(null, { type: "text" }),
  }),
);

const conversation: fc.Arbitrary<Conversation> = fc.record({
  model: fc.constant(TARGET.model),
  instructions: fc.array(words.map((text) => ({ kind: "text" as const, text })), { maxLength: 1 }),
  turns: fc.tuple(fc.array(userPart, { minLength: 1, maxLength: 3 }), fc.array(exchange, { maxLength: 3 })).map((
    [first, exchanges],
  ) => [{ role: "user" as const, parts: first }, ...exchanges.flatMap(numbered)]),
  tools: fc.uniqueArray(tool, { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
  toolChoice: fc.constantFrom({ kind: "auto" }, { kind: "none" }, { kind: "required" }, null),
  parallelToolCalls: fc.option(fc.boolean()),
  outputFormat: fc.constantFrom(null, { kind: "json" }, {
    kind: "json_schema",
    name: "n",
    description: "d",
    schema: { type: "object" },
    strict: false,
  }),
  maxOutputTokens: fc.option(fc.integer({ min: 16, max: 1_000_000 })),
  sampling: fc.record({
    temperature: fc.option(fc.double({ min: 0, max: 2, noNaN: true })),
    topP: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  }).map((some) => ({ ...NO_SAMPLING, ...some })),
  reasoning: fc.option(fc.record({
    effort: fc.constantFrom(...EFFORTS),
    budgetTokens: fc.constant(null),
    visible: fc.constantFrom(true, null),
  })),
  stream: fc.boolean(),
  user: fc.option(toolName),
  cacheKey: fc.option(toolName),
  verbosity: fc.constantFrom("low", "medium", "high", null),
  unsupportedFields: fc.constant([]),
}).map((told) => told.outputFormat?.kind === "json" ? askedForJson(told as Conversation) : told) as fc.Arbitrary<
  Conversation
>;

/** Adds the instruction that the writer adds when a JSON format is set and no message mentions JSON. */
function askedForJson(told: Conversation): Conversation {
  const [{ role, parts }, ...turns] = atLeast(told.turns, 1);
  return { ...told, turns: [{ role, parts: [...parts, { kind: "text", text: "As JSON" }] }, ...turns] };
}

Deno.test("responses codec: reading a request is the inverse of writing it, for every kind of part and setting of the format", () => {
  fc.assert(
    fc.property(conversation, (told) => {
      const written = responses.upstream.writeRequest(told, { ...TARGET, facts: UNKNOWN_FACTS });
      assertEquals(written.droppedFields, []);
      assertEquals(readChecked(responses.caller, JSON.parse(JSON.stringify(written.body))), told);
    }),
    RUNS,
  );
});

const replyPart: fc.Arbitrary<ReplyPart> = fc.oneof(
  fc.oneof(fc.constant(""), words).map((text): ReplyPart => ({ kind: "text", text })),
  words.map((text): ReplyPart => ({ kind: "refusal", text })),
  words.map((text): ReplyPart => ({ kind: "reasoning", text })),
  fc.tuple(fc.oneof(fc.constant(""), words), ownSignature).map(([text, signature]): ReplyPart => ({
    kind: "reasoning",
    text,
    signature,
  })),
  fc.tuple(callId, toolName, json).map(([id, name, input]): ReplyPart => ({
    kind: "tool_call",
    callId: id,
    tool: name,
    input,
  })),
  fc.tuple(callId, toolName, words).map(([id, name, input]): ReplyPart => ({
    kind: "tool_call",
    callId: id,
    tool: name,
    input,
    custom: true,
  })),
  image,
);

const counter = fc.integer({ min: 0, max: 1_000_000 });
const usage: fc.Arbitrary<Usage> = fc.record({
  freshTokens: counter,
  cacheReadTokens: counter,
  cacheWrite5mTokens: counter,
  cacheWrite1hTokens: fc.constant(0),
  toolPromptTokens: fc.constant(0),
  outputTokens: counter,
  reasoningTokens: counter,
}).map((counted) => ({ ...counted, outputTokens: counted.outputTokens + counted.reasoningTokens }));

/** Replies that this format can express in full: their stops follow from the parts, unless a limit was reached. */
const reply: fc.Arbitrary<Reply> = fc.record({
  parts: fc.uniqueArray(replyPart, {
    maxLength: 6,
    selector: (part) => part.kind === "tool_call" ? part.callId : part,
  }),
  limit: fc.constantFrom(null, null, "max_output_tokens", "content_filter"),
  usage: fc.option(usage),
}).map(({ parts, limit, usage }) => ({
  id: "resp_1",
  model: CONTEXT.model,
  createdAt: 1_700_000_001,
  parts,
  stop: stopOf(parts, limit),
  usage,
  unsupportedFields: [],
}));

function stopOf(parts: readonly ReplyPart[], limit: string | null): Reply["stop"] {
  if (limit !== null) return { reason: limit === "content_filter" ? limit : "max_tokens", raw: limit };
  const has = (kind: string) => parts.some((part) => part.kind === kind);
  return { reason: has("tool_call") ? "tool_calls" : has("refusal") ? "refusal" : "end", raw: "completed" };
}

/** The reply without ids of reasoning, which the writer makes, and without signatures at the end. */
function plain(told: Reply): Reply {
  const end = told.parts.findLastIndex((part) => part.kind !== "reasoning" || part.text !== "") + 1;
  const parts = told.parts.slice(0, Math.max(end, 1));
  return { ...told, parts: parts.map(withoutId) };
}

function withoutId(part: ReplyPart): ReplyPart {
  if (part.kind !== "reasoning") return part;
  const { id: _id, ...rest } = part;
  return rest;
}

function eventsOf(told: Reply, cuts: readonly number[]): ReplyEvent[] {
  const middle = told.parts.flatMap((part, index): ReplyEvent[] => {
    if (part.kind === "image") return [{ type: "image", index, image: part }];
    if (part.kind === "web_search") return [{ type: "web_search", index, search: part }];
    const [opening, text, signature] = openingOf(part);
    const cut = (cuts[index % cuts.length] ?? 0) % (text.length + 1);
    const deltas = [text.slice(0, cut), text.slice(cut)].filter((piece) => piece !== "");
    return [
      { type: "part-start", index, part: opening },
      ...deltas.map((piece): ReplyEvent => ({ type: "part-delta", index, text: piece })),
      ...(signature ? [{ type: "part-signature", index, signature } as const] : []),
      { type: "part-end", index },
    ];
  });
  const { id, model, createdAt, stop, usage } = told;
  return [{ type: "start", id, model, createdAt, usage: null }, ...middle, { type: "finish", stop, usage }];
}

type Openable = Exclude<ReplyPart, { kind: "image" | "web_search" }>;

function openingOf(part: Openable) {
  switch (part.kind) {
    case "tool_call": {
      const { input, signature, kind, callId, tool, custom } = part;
      return [{ kind, callId, tool, ...(custom ? { custom } : {}) }, input, signature] as const;
    }
    case "reasoning":
      return [{ kind: part.kind }, part.text, part.signature] as const;
    default:
      return [{ kind: part.kind }, part.text, undefined] as const;
  }
}

function reread(frames: readonly Frame[]): Reply {
  const reader = eventReaderOf(responses);
  return replyOf([...frames.flatMap((frame) => reader.read(frame)), ...reader.end()]);
}

Deno.test("responses codec: reading a reply is the inverse of writing it", () => {
  fc.assert(
    fc.property(reply, (told) => {
      const { body, droppedFields } = responses.caller.writeReply(told, CONTEXT);
      assertEquals(droppedFields, []);
      assertEquals(plain(asCounted(responses.upstream.readReply(JSON.parse(JSON.stringify(body))))), plain(told));
    }),
    RUNS,
  );
});

Deno.test("responses codec: reading a stream returns the written reply, wherever its text was cut", () => {
  fc.assert(
    fc.property(reply, fc.array(fc.nat(50), { minLength: 1, maxLength: 4 }), (told, cuts) => {
      const writer = responses.caller.eventWriter(CONTEXT);
      const frames = eventsOf(told, cuts).flatMap((event) => writer.write(event));
      assertEquals(plain(asCounted(reread(frames))), plain(told));
    }),
    RUNS,
  );
});

Deno.test("responses codec: the last event of a stream has the whole response object", () => {
  fc.assert(
    fc.property(reply, (told) => {
      const writer = responses.caller.eventWriter(CONTEXT);
      const last = eventsOf(told, [3]).flatMap((event) => writer.write(event)).at(-1)!;
      assertEquals(
        JSON.parse(last.data).response,
        JSON.parse(JSON.stringify(responses.caller.writeReply(told, CONTEXT).body)),
      );
    }),
    RUNS,
  );
});

Deno.test("responses codec: interleaved parts of a stream are written whole", () => {
  const told = fc.array(fc.oneof(words.map((text): ReplyPart => ({ kind: "text", text }))), {
    minLength: 2,
    maxLength: 4,
  });
  fc.assert(
    fc.property(told, (parts) => {
      const writer = responses.caller.eventWriter(CONTEXT);
      const starts = parts.map((_, index): ReplyEvent => ({ type: "part-start", index, part: { kind: "text" } }));
      const letters = parts.flatMap((part, index) =>
        part.kind === "text" ? [...part.text].map((text, at) => ({ at, index, text })) : []
      ).sort((a, b) => a.at - b.at);
      const events: ReplyEvent[] = [
        { type: "start", id: "resp_1", model: "m", createdAt: 1, usage: null },
        ...starts,
        ...letters.map(({ index, text }): ReplyEvent => ({ type: "part-delta", index, text })),
        ...parts.map((_, index): ReplyEvent => ({ type: "part-end", index })),
        { type: "finish", stop: { reason: "end", raw: null }, usage: null },
      ];
      assertEquals(reread(events.flatMap((event) => writer.write(event))).parts, parts);
    }),
    RUNS,
  );
});
