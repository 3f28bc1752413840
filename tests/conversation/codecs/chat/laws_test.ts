import { eventReaderOf } from "../../../support/event_reader.ts";
import { readChecked } from "../../../../src/conversation/contract/caller_format.ts";
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { joinedTexts } from "../../../../src/conversation/parts/request/joined_texts.ts";
import { chat } from "../../../../src/conversation/codecs/chat/mod.ts";
import type { ReplyContext } from "../../../../src/conversation/contract/caller_format.ts";
import type { RequestTarget } from "../../../../src/conversation/contract/upstream_format.ts";
import type { JsonObject } from "../../../../src/platform/lib/json/json_object.ts";
import type {
  Conversation,
  Part,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from "../../../../src/conversation/neutral/conversation.ts";
import type { PartOpening, ReplyEvent } from "../../../../src/conversation/neutral/events.ts";
import type { Reply, ReplyPart } from "../../../../src/conversation/neutral/reply.ts";
import type { ReasoningSignature } from "../../../../src/conversation/neutral/reasoning_signature.ts";
import { asCounted, replyOf } from "../../../support/assemble.ts";
import { targetOf } from "../../../support/conversations.ts";

const AUTHOR: RequestTarget = targetOf({ model: "gpt-4.1", provider: "author" });
const CONTEXT: ReplyContext = {
  model: "prov/model",
  requestId: "req_1",
  createdAt: 7,
  conversation: null,
  includeUsage: true,
};

const text = fc.string({ minLength: 1, maxLength: 12 });
const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,20}$/);
const base64 = fc.uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) => btoa(String.fromCharCode(...bytes)));
const json = fc.dictionary(name, fc.oneof(fc.integer(), text)).map((value) => JSON.stringify(value));
const textPart = text.map((value): Part => ({ kind: "text", text: value }));
const imagePart = fc.record({
  url: fc.boolean(),
  data: base64,
  detail: fc.constantFrom(undefined, "auto", "low", "high"),
}).map(({ url, data, detail }): Part => ({
  kind: "image",
  source: url
    ? { kind: "url", url: "https://example.com/a.png", mediaType: null }
    : { kind: "base64", mediaType: "image/png", data },
  ...(detail && { detail }),
}));
const filePart = fc.tuple(base64, name).map(([data, file]): Part => ({
  kind: "file",
  source: { kind: "base64", mediaType: "application/pdf", data },
  name: `${file}.pdf`,
}));
const audioPart = fc.tuple(base64, fc.constantFrom("audio/wav", "audio/mpeg")).map(([data, mediaType]): Part => ({
  kind: "audio",
  source: { kind: "base64", mediaType, data },
}));
const said = fc.array(fc.oneof(textPart, imagePart, filePart, audioPart), { minLength: 1, maxLength: 3 });

/** Calls with their results. Ids are assigned later, so that they are unique. */
const called = fc.record({
  tool: name,
  input: json,
  custom: fc.boolean(),
  results: fc.array(textPart, { maxLength: 2 }),
});
const step = fc.record({
  user: said,
  texts: fc.array(textPart, { maxLength: 2 }),
  refusal: fc.option(text),
  calls: fc.array(called, { maxLength: 3 }),
  system: fc.option(text),
});

function turnsOf(steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[]): Turn[] {
  const turns: Turn[] = [];
  let results: ToolResultPart[] = [];
  steps.forEach(({ user, texts, refusal, calls, system }, i) => {
    turns.push({ role: "user", parts: [...results, ...user] });
    const made = calls.map(({ tool, input, custom }, k): ToolCallPart => ({
      kind: "tool_call",
      callId: `call_${i}_${k}`,
      tool,
      input,
      ...(custom && { custom: true }),
    }));
    results = calls.map(({ tool, custom, results }, k) => ({
      kind: "tool_result",
      callId: `call_${i}_${k}`,
      tool,
      parts: results as ToolResultPart["parts"],
      isError: false,
      ...(custom && { custom: true }),
    }));
    const refused: Part[] = refusal === null ? [] : [{ kind: "refusal", text: refusal }];
    const parts = [...joinedTexts(texts), ...refused, ...made];
    turns.push({ role: "assistant", parts: parts.length > 0 ? parts : [{ kind: "text", text: "." }] });
    if (system !== null && made.length === 0) turns.push({ role: "system", parts: [{ kind: "text", text: system }] });
  });
  if (results.length > 0) turns.push({ role: "user", parts: results });
  return turns;
}

const tool = fc.record({
  name,
  description: fc.option(text),
  strict: fc.constantFrom(true, false, null),
  custom: fc.boolean(),
}).map(({ name, description, strict, custom }): Conversation["tools"][number] =>
  custom
    ? { kind: "custom", name, description, format: { type: "grammar", syntax: "lark", definition: "start: A" } }
    : {
      kind: "function",
      name,
      description,
      parameters: {
        type: "object",
        properties: { a: { type: "string" } },
        required: ["a"],
        additionalProperties: false,
      },
      strict,
    }
);

const conversation = fc.record({
  instructions: fc.array(text.map((value) => ({ kind: "text" as const, text: value })), { maxLength: 2 }),
  turns: fc.array(step, { minLength: 1, maxLength: 3 }).map(turnsOf),
  tools: fc.uniqueArray(tool, { selector: (one) => one.name, maxLength: 3 }),
  choice: fc.constantFrom("auto", "none", "required", "tool", "allowed", null),
  parallel: fc.constantFrom(true, false, null),
  format: fc.constantFrom<Conversation["outputFormat"]>(null, {
    kind: "json_schema",
    name: "shape",
    description: "a shape",
    schema: { type: "object" },
    strict: null,
  }),
  most: fc.option(fc.integer({ min: 1, max: 1e6 })),
  tenths: fc.option(fc.integer({ min: 0, max: 10 })),
  seed: fc.option(fc.integer()),
  stop: fc.array(text, { maxLength: 4 }),
  stream: fc.boolean(),
  words: fc.option(name),
}).map(({ choice, parallel, format, most, tenths, seed, words, stop, ...rest }): Conversation => {
  const names = rest.tools.map((one) => one.name);
  const share = tenths === null ? null : tenths / 10;
  return {
    ...rest,
    model: AUTHOR.model,
    toolChoice: names.length === 0 || choice === null
      ? null
      : choice === "tool"
      ? { kind: "tool", tool: names[0]! }
      : choice === "allowed"
      ? { kind: "allowed", mode: "auto", tools: names }
      : { kind: choice },
    parallelToolCalls: names.length === 0 ? null : parallel,
    outputFormat: format,
    maxOutputTokens: most,
    sampling: {
      temperature: share,
      topP: share,
      topK: null,
      presencePenalty: share,
      frequencyPenalty: share,
      seed,
      stop,
    },
    reasoning: null,
    user: words,
    cacheKey: words,
    verbosity: words,
    unsupportedFields: [],
  };
});

/** A value after JSON serialization. */
function sent(body: unknown): JsonObject {
  return JSON.parse(JSON.stringify(body));
}

Deno.test("chat codec: reading a request is the inverse of writing it for every kind of part, tool and setting", () => {
  fc.assert(fc.property(conversation, (asked) => {
    const { body, droppedFields } = chat.upstream.writeRequest(asked, AUTHOR);
    assertEquals(droppedFields, []);
    assertEquals(readChecked(chat.caller, sent(body)), asked);
  }));
});

const foreignSignature = fc.record({
  format: fc.constantFrom<ReasoningSignature["format"]>("messages", "content", "responses", "chat"),
  issuer: fc.constantFrom("a", "b"),
  value: text,
});
const signed = fc.option(foreignSignature).map((signature) => signature ? { signature } : {});
const thought = fc.tuple(text, foreignSignature, fc.boolean(), fc.option(name)).map((
  [value, signature, hidden, id],
): ReplyPart => ({
  kind: "reasoning",
  text: hidden ? "" : value,
  signature,
  ...(hidden && { redacted: true }),
  ...(id !== null && { id }),
}));
const plainThought = text.map((value): ReplyPart[] => [{ kind: "reasoning", text: value }]);
const call = fc.tuple(name, json, fc.boolean(), signed).map(([tool, input, custom, signature]): ReplyPart => ({
  kind: "tool_call",
  callId: "",
  tool,
  input,
  ...(custom && { custom: true }),
  ...signature,
}));
const counter = fc.integer({ min: 0, max: 1e6 });

const reply = fc.record({
  thoughts: fc.oneof(plainThought, fc.array(thought, { maxLength: 3 })),
  text: fc.option(
    fc.tuple(text, signed).map(([value, signature]): ReplyPart => ({ kind: "text", text: value, ...signature })),
  ),
  cited: fc.boolean(),
  refusal: fc.option(text),
  image: fc.option(base64),
  calls: fc.array(call, { maxLength: 3 }),
  stop: fc.constantFrom("end", "max_tokens", "content_filter"),
  usage: fc.option(fc.record({ fresh: counter, read: counter, write: counter, output: counter, reasoning: counter })),
}).map(({ thoughts, text, cited, refusal, image, calls, stop, usage }): Reply => {
  const citations = [{ url: "https://example.com/", title: "t", start: 0, end: 1 }];
  const spoken = text && cited ? { ...text, citations } as ReplyPart : text;
  const parts: ReplyPart[] = [
    ...thoughts,
    ...(spoken ? [spoken] : []),
    ...(refusal === null ? [] : [{ kind: "refusal" as const, text: refusal }]),
    ...(image === null
      ? []
      : [{ kind: "image" as const, source: { kind: "base64" as const, mediaType: "image/png", data: image } }]),
    ...calls.map((part, i) => ({ ...part, callId: `call_${i}` }) as ReplyPart),
  ];
  const ended = calls.length > 0 ? "tool_calls" : refusal !== null && !text ? "refusal" : "end";
  const reason = stop === "end" ? ended : stop;
  const raw = { end: "stop", refusal: "stop", max_tokens: "length" }[reason as string] ?? reason;
  return {
    id: "chatcmpl-1",
    model: CONTEXT.model,
    createdAt: 5,
    parts,
    stop: { reason, raw } as Reply["stop"],
    usage: usage && {
      freshTokens: usage.fresh,
      cacheReadTokens: usage.read,
      cacheWrite5mTokens: usage.write,
      cacheWrite1hTokens: 0,
      toolPromptTokens: 0,
      outputTokens: usage.output,
      reasoningTokens: Math.min(usage.output, usage.reasoning),
    },
    unsupportedFields: [],
  };
});

Deno.test("chat codec: reading a reply is the inverse of writing it for every kind of part", () => {
  fc.assert(fc.property(reply, (given) => {
    const { body, droppedFields } = chat.caller.writeReply(given, CONTEXT);
    assertEquals(droppedFields, []);
    assertEquals(asCounted(chat.upstream.readReply(sent(body))), given);
  }));
});

/** A valid stream of a reply; with `overlap`, calls interleave. */
function eventsOf(given: Reply, overlap: boolean): ReplyEvent[] {
  const { id, model, createdAt, parts, stop, usage } = given;
  const events: ReplyEvent[] = [{ type: "start", id, model, createdAt, usage: null }];
  const held: ReplyEvent[] = [];
  parts.forEach((part, index) => {
    if (part.kind === "image") return events.push({ type: "image", index, image: part });
    if (part.kind === "web_search") return events.push({ type: "web_search", index, search: part });
    const ends = overlap && part.kind === "tool_call" ? held : events;
    events.push({ type: "part-start", index, part: openingOf(part) });
    const whole = part.kind === "tool_call" ? part.input : part.text;
    const pieces = whole.length > 1 ? [whole.slice(0, 1), whole.slice(1)] : whole === "" ? [] : [whole];
    for (const piece of pieces) ends.push({ type: "part-delta", index, text: piece });
    if ("signature" in part && part.signature) ends.push({ type: "part-signature", index, signature: part.signature });
    ends.push({ type: "part-end", index, ...("citations" in part && { citations: part.citations }) });
  });
  return [...events, ...held, { type: "finish", stop, usage }];
}

function openingOf(part: ReplyPart): PartOpening {
  switch (part.kind) {
    case "reasoning": {
      const { redacted, id } = part;
      return { kind: "reasoning", ...(redacted && { redacted }), ...(id !== undefined && { id }) };
    }
    case "tool_call":
      return { kind: "tool_call", callId: part.callId, tool: part.tool, ...(part.custom && { custom: true }) };
    default:
      return { kind: part.kind as "text" | "refusal" };
  }
}

Deno.test("chat codec: reading a written stream returns the reply", () => {
  fc.assert(fc.property(reply, fc.boolean(), (given, overlap) => {
    const writer = chat.caller.eventWriter(CONTEXT);
    const frames = eventsOf(given, overlap).flatMap((event) => writer.write(event));
    const reader = eventReaderOf(chat);
    const events = [...frames.flatMap((frame) => reader.read(frame)), ...reader.end()];
    assertEquals(asStreamed(asCounted(replyOf(events))), asStreamed(given));
  }));
});

/** The reply without ids of reasoning, which arrive too late in a stream. */
function asStreamed(given: Reply): Reply {
  const parts = given.parts.map((part) => {
    if (part.kind !== "reasoning" || part.redacted) return part;
    const { id: _id, ...rest } = part;
    return rest;
  });
  return { ...given, parts };
}

Deno.test("chat codec: a whole reply and its stream are equivalent for the caller", () => {
  fc.assert(fc.property(reply, (given) => {
    const writer = chat.caller.eventWriter(CONTEXT);
    const chunks = eventsOf(given, false).flatMap((event) => writer.write(event)).slice(0, -1)
      .map((frame) => JSON.parse(frame.data));
    const choices = chunks.flatMap((chunk) => chunk.choices);
    const whole = sent(chat.caller.writeReply(given, CONTEXT).body) as { choices: { message: JsonObject }[] };
    const { message } = whole.choices[0]!;
    assertEquals(choices.map(({ delta }) => delta.content ?? "").join(""), message.content ?? "");
    assertEquals(choices.map(({ delta }) => delta.reasoning_content ?? "").join(""), message.reasoning_content ?? "");
    assertEquals(choices.at(-1).finish_reason, given.stop.raw);
    assertEquals(new Set(chunks.map(({ id, created }) => `${id}/${created}`)).size, 1);
  }));
});
