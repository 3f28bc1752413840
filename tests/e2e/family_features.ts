import type { Json } from "./caller_protocols.ts";
import { type Speaker, SPEAKERS, type TurnOptions } from "./changing_conversations.ts";
import { type VendorModel, VENDORS } from "./vendors.ts";

/** A family of models, by the model of the sandbox that stands for it. */
export interface Family extends VendorModel {
  /** As the table has it. */
  readonly name: string;
}

/** The columns of the table. */
export const FAMILIES: readonly Family[] = [
  of("GPT-4.1", "sandbox/gpt-4.1", "openai"),
  of("GPT-5.4", "sandbox/gpt-5.4", "openai"),
  of("GPT-5.6", "sandbox/gpt-5.6-terra", "openai", { reasons: true }),
  of("GPT-6.2", "sandbox/gpt-6.2-sol", "openai", { reasons: true }),
  of("GPT-6, chat only", "sandbox/chat-only-gpt-6-sol", "openai", { reasons: true, searchless: "everywhere" }),
  of("Claude Opus 5.5", "sandbox/claude-opus-5-5", "anthropic", { reasons: true }),
  of("Claude Sonnet 5.5", "sandbox/claude-sonnet-5-5", "anthropic", { reasons: true }),
  of("Claude Opus 4.8", "sandbox/claude-opus-4-8", "anthropic"),
  of("Claude Haiku 4.5", "sandbox/claude-haiku-4-5", "anthropic"),
  of("Gemini 4", "sandbox/gemini-4-argon", "google", { reasons: true }),
  of("Gemini 3.6", "sandbox/gemini-3.6-flash", "google", { reasons: true }),
  of("Gemini 2.5", "sandbox/gemini-2.5-flash-lite", "google"),
];

/** Families of vendors with the chat format that refuse what OpenAI takes: columns of the table of formats. */
export const CHAT_FAMILIES: readonly Pick<Family, "name" | "model">[] = [
  { name: "DeepSeek V4", model: "sandbox/deepseek-v4-pro" },
  { name: "Mistral Large 4", model: "sandbox/mistral-large-4" },
  { name: "Cohere Command A", model: "sandbox/command-a-03-2025" },
];

function of(name: string, model: string, vendor: string, more: Partial<VendorModel> = {}): Family {
  const maker = VENDORS.find((each) => each.name === vendor);
  if (maker === undefined) throw new Error(`no vendor ${vendor}`);
  return { ...maker, ...more, name, model };
}

/** What one request came to. */
export interface Outcome {
  readonly status: number;
  /** The fields that `X-Service-Dropped` names. */
  readonly dropped: readonly string[];
  readonly reply: Json;
}

/** Sends a body for a model to the gateway. */
export type Send = (speaker: Speaker, model: string, body: Json) => Promise<Outcome>;

/** A row of the table. */
export interface FamilyFeature {
  readonly name: string;
  /** Returns the outcomes of its requests in one format, in order. */
  try(format: string, model: string, send: Send): Promise<readonly Outcome[]>;
}

const PLAIN: TurnOptions = {
  text: "Tell me more",
  hasImage: false,
  searches: false,
  thinking: null,
  isForced: false,
  hasSchema: false,
  samples: false,
  marksCache: false,
};
const CALLING = { ...PLAIN, text: '[[tool weather {"city":"Bern"}]] Weather?' };

/** The rows of the table. */
export const FAMILY_FEATURES: readonly FamilyFeature[] = [
  once("text", PLAIN),
  once("image", { ...PLAIN, hasImage: true }),
  once("sampling settings and stop sequences", { ...PLAIN, samples: true }),
  { name: "tool loop, default effort", try: (format, model, send) => loop(format, model, send, null) },
  { name: "tool loop, without reasoning", try: (format, model, send) => loop(format, model, send, "none") },
  { name: "tool loop, effort low", try: (format, model, send) => loop(format, model, send, "low") },
  { name: "tool loop, effort high", try: (format, model, send) => loop(format, model, send, "high") },
  { name: "tool loop, effort max", try: (format, model, send) => loop(format, model, send, "max") },
  { name: "tool loop, budget of tokens", try: (format, model, send) => loop(format, model, send, "budget") },
  once("forced call", { ...PLAIN, isForced: true }),
  { name: "second turn after a call", try: secondTurn },
  once("structured output", { ...PLAIN, hasSchema: true }),
  schema("tool with an optional field", { type: "object", properties: { a: { type: "string" } } }),
  schema("tool with a map", {
    type: "object",
    properties: { a: { type: "object", additionalProperties: { type: "string" } } },
  }),
  schema("tool with a reference", {
    type: "object",
    properties: { a: { $ref: "#/$defs/a" } },
    $defs: { a: { type: "string" } },
  }),
  schema("tool with alternatives", {
    type: "object",
    properties: { a: { anyOf: [{ type: "string" }, { type: "integer" }] } },
  }),
];

function once(name: string, options: TurnOptions): FamilyFeature {
  return {
    name,
    async try(format, model, send) {
      const speaker = speakerOf(format);
      return [await send(speaker, model, speaker.ask(model, options))];
    },
  };
}

async function loop(format: string, model: string, send: Send, thinking: TurnOptions["thinking"]): Promise<Outcome[]> {
  const speaker = speakerOf(format);
  const first = await send(speaker, model, speaker.ask(model, { ...CALLING, thinking }));
  if (first.status !== 200) return [first];
  const calls = speaker.add(first.reply);
  return [first, await send(speaker, model, speaker.answer(model, calls, { ...PLAIN, thinking }))];
}

async function secondTurn(format: string, model: string, send: Send): Promise<Outcome[]> {
  const speaker = speakerOf(format);
  const outcomes: Outcome[] = [];
  const first = await send(speaker, model, speaker.ask(model, CALLING));
  outcomes.push(first);
  if (first.status !== 200) return outcomes;
  const second = await send(speaker, model, speaker.answer(model, speaker.add(first.reply), PLAIN));
  outcomes.push(second);
  if (second.status !== 200) return outcomes;
  speaker.add(second.reply);
  return [...outcomes, await send(speaker, model, speaker.ask(model, PLAIN))];
}

/** Replaces the parameters of the first tool. */
function schema(name: string, parameters: Json): FamilyFeature {
  return {
    name,
    async try(format, model, send) {
      const speaker = speakerOf(format);
      const body = speaker.ask(model, PLAIN);
      const [tool] = body.tools;
      const declared = tool.functionDeclarations?.[0] ?? tool.function ?? tool;
      const field = ["parametersJsonSchema", "input_schema", "parameters"].find((each) => each in declared) ??
        "parameters";
      declared[field] = parameters;
      return [await send(speaker, model, body)];
    },
  };
}

function speakerOf(format: string): Speaker {
  const speak = Object.entries(SPEAKERS).find(([name]) => name === format)?.[1];
  if (speak === undefined) throw new Error(`no format ${format}`);
  return speak();
}
