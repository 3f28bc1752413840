import { assert, assertEquals } from "@std/assert";
import { itemAt } from "../support/items.ts";
import { type Speaker, SPEAKERS, type SpokenCall, type TurnOptions } from "./changing_conversations.ts";
import { startFamilyGateway } from "./family_gateway.ts";

/** Conversations for each format of callers. */
const CONVERSATIONS = 10;
const TURNS = 8;

/** A model of a family, and whether its vendor searches. */
interface Family {
  readonly model: string;
  readonly vendor: string;
  readonly searches: boolean;
}

/** Models of every family whose vendor refuses something that others accept. */
const FAMILIES: readonly Family[] = [
  ...of("openai", true, "gpt-4.1", "gpt-5", "gpt-5.4", "gpt-5.5", "gpt-5.6-terra", "gpt-6-sol", "gpt-6.2-sol"),
  ...of("azure", false, "gpt-6.1-sol"),
  ...of("chat only", false, "chat-only-gpt-6-sol"),
  ...of("anthropic", true, "claude-fable-5-2", "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"),
  ...of("anthropic", true, "claude-opus-5", "claude-opus-4-8", "claude-sonnet-4-6", "claude-haiku-4-5"),
  ...of("google", true, "gemini-4-argon", "gemini-4-neon", "gemini-3.8-flash", "gemini-3.6-flash"),
  ...of("google", false, "gemini-2.5-flash-lite"),
  ...of("xai", false, "grok-4.7"),
  ...of("alibaba", false, "qwen3.8-max"),
  ...of("deepseek", false, "deepseek-v4-pro"),
  ...of("moonshot", false, "kimi-k3"),
  ...of("zai", false, "glm-5.3"),
  ...of("groq", false, "gpt-oss-120b"),
  ...of("mistral", false, "mistral-large-4"),
  ...of("cohere", false, "command-a-03-2025"),
];

function of(vendor: string, searches: boolean, ...names: readonly string[]): readonly Family[] {
  return names.map((name) => ({ model: `sandbox/${name}`, vendor, searches }));
}

const { vendors, gateway } = await startFamilyGateway();

for (const [format, speak] of Object.entries(SPEAKERS)) {
  for (let seed = 1; seed <= CONVERSATIONS; seed++) {
    Deno.test(`${format}: conversation ${seed} changes the vendor at every turn and is never refused`, () =>
      hold(speak(), new Choices(seed), format));
  }
}

Deno.test("the gateway of these tests stops", async () => {
  await gateway.stop();
  await vendors.stop();
});

async function hold(speaker: Speaker, choices: Choices, format: string): Promise<void> {
  let vendor = "";
  let calls: readonly SpokenCall[] = [];
  const path: string[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const family = choices.one(FAMILIES.filter((each) => each.vendor !== vendor));
    vendor = family.vendor;
    // The search of a chat caller stays at chat completions, where only other models of OpenAI have it.
    const canSearch = family.searches && !(format === "chat" && vendor === "openai");
    const wish = wishOf(choices, canSearch);
    path.push(`${family.model} ${JSON.stringify(calls.length > 0 ? { ...wish, text: "results" } : wish)}`);
    const body = calls.length > 0 ? speaker.answer(family.model, calls, wish) : speaker.ask(family.model, wish);
    calls = speaker.add(await send(speaker, family.model, body, path));
  }
}

// deno-lint-ignore no-explicit-any -- the reply of any format
async function send(speaker: Speaker, model: string, body: unknown, path: readonly string[]): Promise<any> {
  const response = await fetch(`${gateway.address}${speaker.path(model)}`, {
    method: "POST",
    headers: speaker.headers(gateway.key),
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const sent = JSON.stringify(vendors.requests.at(-1)?.body);
  assertEquals(response.status, 200, `${text}\n${path.join("\n")}\nto the vendor: ${sent}`);
  return JSON.parse(text);
}

function wishOf(choices: Choices, canSearch: boolean): TurnOptions {
  const searches = canSearch && choices.happens(0.25);
  const calls = choices.one([
    "",
    "",
    '[[tool weather {"city":"Bern"}]] ',
    '[[tool weather]] [[tool time {"city":"Rome"}]] ',
  ]);
  const order = searches ? "[[search weather]] " : calls;
  const hasSchema = !searches && order === "" && choices.happens(0.2);
  return {
    text: `${order}${choices.happens(0.2) ? "[[think It depends]] " : ""}Tell me more, as json or not`,
    hasImage: choices.happens(0.25),
    searches,
    thinking: choices.one(["low", "high", "max", "none", "budget", null, null] as const),
    isForced: !searches && !hasSchema && choices.happens(0.15),
    hasSchema,
    samples: choices.happens(0.3),
    marksCache: choices.happens(0.5),
  };
}

/** A sequence of choices that is the same for the same seed. */
class Choices {
  #state: number;

  constructor(seed: number) {
    this.#state = seed * 2_654_435_769 >>> 0;
  }

  /** Uniform in [0, 1), by mulberry32. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ mixed >>> 15, mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
    return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
  }

  happens(share: number): boolean {
    return this.#next() < share;
  }

  one<Item>(items: readonly Item[]): Item {
    assert(items.length > 0);
    return itemAt(items, Math.floor(this.#next() * items.length));
  }
}
