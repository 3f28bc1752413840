/**
 * Measures what the checks of a request that passes through cost: the same conversation for vendors with rules and for
 * one without, beside parsing its JSON. Nothing in the requests needs a change. The rounds take turns, so that a busy
 * machine slows all of them. `deno run bench/passed_requests.ts [ROUNDS]`.
 */
import { chat } from "../src/conversation/codecs/chat/mod.ts";
import { content } from "../src/conversation/codecs/content/mod.ts";
import { messages } from "../src/conversation/codecs/messages/mod.ts";
import { responses } from "../src/conversation/codecs/responses/mod.ts";
import { modelFacts } from "../src/conversation/models/known_models.ts";
import type { PassThrough, PassThroughRequest } from "../src/conversation/contract/pass_through.ts";
import { jsonObjectOf } from "../src/platform/http/bodies/json_body.ts";
import { defaultQuirks } from "../src/vendors/upstreams/settings/default_quirks.ts";
import type { ProviderKind } from "../src/vendors/upstreams/kinds.ts";

/** A request to prepare. */
interface Case {
  readonly title: string;
  readonly passThrough: PassThrough;
  readonly request: PassThroughRequest;
}

/** The lengths of conversations, in messages. */
const LENGTHS = [2, 40, 400];
const WORDS = "The quick brown fox jumps over the lazy dog. ".repeat(8);
const SCHEMA = { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } };
const NAMES = Array.from({ length: 12 }, (_, index) => `tool_${index}`);
const DESCRIPTION = "Reads what the caller wants to know, and returns it as text. ".repeat(4);
/** Nine letters, as Mistral has them. */
const callId = (index: number) => `call${String(index).padStart(5, "0")}`;

const CHAT_TOOLS = NAMES.map((name) => ({
  type: "function",
  function: { name, description: DESCRIPTION, parameters: SCHEMA },
}));

/** A loop of calls and results, as agents send it. */
function chatBody(length: number, model: string) {
  const turns = Array.from({ length }, (_, index) => {
    if (index % 4 === 2) {
      const call = { id: callId(index), type: "function", function: { name: "tool_1", arguments: '{"city":"Bern"}' } };
      return { role: "assistant", content: "", tool_calls: [call] };
    }
    if (index % 4 === 3) return { role: "tool", tool_call_id: callId(index - 1), content: WORDS };
    return { role: index % 2 === 0 ? "user" : "assistant", content: WORDS };
  });
  return { model, messages: turns, tools: CHAT_TOOLS };
}

function responsesBody(length: number, model: string) {
  const input = Array.from({ length }, (_, index) => {
    if (index % 4 === 2) {
      return { type: "function_call", call_id: callId(index), name: "tool_1", arguments: '{"city":"Bern"}' };
    }
    if (index % 4 === 3) return { type: "function_call_output", call_id: callId(index - 1), output: WORDS };
    return { role: index % 2 === 0 ? "user" : "assistant", content: WORDS };
  });
  return { model, input, tools: NAMES.map((name) => ({ type: "function", name, parameters: SCHEMA, strict: false })) };
}

function messagesBody(length: number, model: string) {
  // The last turn is the user's: a model refuses to go on with its own.
  const turns = Array.from({ length }, (_, index) => ({
    role: (length - index) % 2 === 1 ? "user" : "assistant",
    content: [{ type: "text", text: WORDS }],
  }));
  const tools = NAMES.map((name) => ({ name, description: DESCRIPTION, input_schema: SCHEMA }));
  return { model, max_tokens: 1_000, messages: turns, tools };
}

function contentBody(length: number) {
  const contents = Array.from({ length }, (_, index) => ({
    role: (length - index) % 2 === 1 ? "user" : "model",
    parts: [{ text: WORDS }],
  }));
  const parameters = { type: "OBJECT", properties: { city: { type: "STRING" } } };
  return { contents, tools: [{ functionDeclarations: NAMES.map((name) => ({ name, parameters })) }] };
}

/** A request at a vendor, whose host decides on its quirks. */
function requestAt(kind: ProviderKind, host: string, model: string, value: object): PassThroughRequest {
  const text = JSON.stringify(value);
  const read = jsonObjectOf(new TextEncoder().encode(text));
  const entry = { id: `maker/${model}`, supportedParameters: [] };
  return {
    bytes: read.bytes,
    scan: read.scan,
    // As in the gateway, long texts are not looked at.
    body: read.outline,
    wholeBody: () => read.body,
    outlineText: read.outlineText,
    changed: {},
    model,
    outputLimit: null,
    cachedContent: null,
    quirks: defaultQuirks(kind, new URL(`https://${host}`)),
    dropsReasoning: false,
    version: null,
    facts: modelFacts(model, entry),
    provider: "provider",
    issuedItem: () => null,
    hasOtherMakers: false,
  };
}

function casesFor(length: number): readonly Case[] {
  const chatAt = (title: string, host: string, model: string): Case => ({
    title: `chat, ${title}`,
    passThrough: chat.passThrough,
    request: requestAt("openai", host, model, chatBody(length, model)),
  });
  const gpt = "gpt-6-sol";
  return [
    chatAt("a vendor without rules", "vendor.example", "other-1"),
    chatAt("OpenAI", "api.openai.com", "gpt-4.1"),
    chatAt("Mistral", "api.mistral.ai", "mistral-large-4"),
    chatAt("Cohere", "api.cohere.ai", "command-a-03-2025"),
    {
      title: "responses, OpenAI",
      passThrough: responses.passThrough,
      request: requestAt("openai", "api.openai.com", gpt, responsesBody(length, gpt)),
    },
    {
      title: "messages, Anthropic",
      passThrough: messages.passThrough,
      request: requestAt("anthropic", "api.anthropic.com", "claude-opus-5", messagesBody(length, "claude-opus-5")),
    },
    {
      title: "content, Google",
      passThrough: content.passThrough,
      request: requestAt("google", "generativelanguage.googleapis.com", "gemini-3.8-flash", contentBody(length)),
    },
  ];
}

/** Microseconds of each case and of parsing, the median of the rounds. */
function measured(cases: readonly Case[], rounds: number): readonly { title: string; us: number; parseUs: number }[] {
  const times = cases.map((): { own: number[]; parse: number[] } => ({ own: [], parse: [] }));
  for (let round = 0; round < rounds; round++) {
    for (const [index, { passThrough, request }] of cases.entries()) {
      const text = new TextDecoder().decode(request.bytes);
      const repeats = Math.ceil(2_000_000 / (request.bytes.length + 20_000));
      const own = timed(repeats, () => passThrough.prepare(request));
      const parse = timed(repeats, () => JSON.parse(text));
      times[index]?.own.push(own);
      times[index]?.parse.push(parse);
    }
  }
  return cases.map(({ title }, index) => ({
    title,
    us: medianOf(times[index]?.own ?? []),
    parseUs: medianOf(times[index]?.parse ?? []),
  }));
}

function timed(repeats: number, run: () => unknown): number {
  const start = performance.now();
  for (let at = 0; at < repeats; at++) run();
  return (performance.now() - start) * 1_000 / repeats;
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

if (import.meta.main) {
  const rounds = Number(Deno.args[0] ?? 25);
  console.log("| Request | Messages | KB | Checks, µs | Share of parsing its JSON |");
  console.log("| --- | ---: | ---: | ---: | ---: |");
  for (const length of LENGTHS) {
    const cases = casesFor(length);
    measured(cases, Math.ceil(rounds / 5)); // V8 compiles the code
    for (const [index, { title, us, parseUs }] of measured(cases, rounds).entries()) {
      const kilobytes = Math.round((cases[index]?.request.bytes.length ?? 0) / 1_000);
      console.log(`| ${title} | ${length} | ${kilobytes} | ${us.toFixed(1)} | ${Math.round(us / parseUs * 100)} % |`);
    }
  }
}
