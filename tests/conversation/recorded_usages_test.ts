import { eventReaderOf } from "../support/event_reader.ts";
import { assert, assertEquals } from "@std/assert";
import { PRICE_KEYS, type PriceKeysOf } from "../../src/money/billing/prices/tariff.ts";
import { textQuantitiesOf } from "../../src/money/billing/prices/text_quantities.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { promptTokensOf, type Usage } from "../../src/conversation/neutral/usage.ts";
import { CODECS } from "../support/formats.ts";
import { minRecordings, type Recording, RECORDINGS, recordings } from "../support/recordings.ts";

const ignore = RECORDINGS === null;
const missing = ignore ? " (skipped: needs recordings of real vendors)" : "";

const PROMPT_KEYS: readonly PriceKeysOf<"text">[] = [
  "prompt",
  "audio",
  "image_input",
  "input_cache_read",
  "audio_cache_read",
  "image_input_cache_read",
  "input_cache_write_5m",
  "input_cache_write_1h",
];
const OUTPUT_KEYS: readonly PriceKeysOf<"text">[] = ["completion", "audio_output", "image_output", "video_output"];

/** The usage of a stream, read by the pass-through watcher and by the event reader. */
function usagesOfStream({ form, frames }: Recording): [followed: Usage | null, read: Usage | null] {
  const follower = CODECS[form].passThrough.watch({});
  const reader = eventReaderOf(CODECS[form]);
  let read: Usage | null = null;
  const events = frames!.flatMap((frame) => {
    if (follower.isRelevant(frame.data)) follower.observe(frame.data);
    return reader.read(frame);
  });
  for (const event of [...events, ...reader.end()]) if (event.type === "finish") read = event.usage;
  return [follower.usage(), read];
}

/** All usage that vendors reported, with the name of its recording. */
function usages(): [name: string, usage: Usage][] {
  return recordings().flatMap((recording) => {
    const { name, form, whole } = recording;
    const usage = whole === null ? usagesOfStream(recording)[0] : CODECS[form].upstream.readUsage(whole);
    return usage === null ? [] : [[name, usage] as [string, Usage]];
  });
}

Deno.test({
  name: "every token of every recorded usage is charged once, by one key",
  fn() {
    const all = usages();
    assert(all.length > minRecordings(200), `${all.length} usages were recorded`);
    for (const [name, usage] of all) {
      const quantities = textQuantitiesOf(usage);
      const total = (keys: readonly PriceKeysOf<"text">[]) => keys.reduce((sum, key) => sum + quantities[key], 0);
      assertEquals([total(PROMPT_KEYS), total(OUTPUT_KEYS)], [promptTokensOf(usage), usage.outputTokens], name);
      for (const key of PRICE_KEYS) {
        const count = quantities[key as PriceKeysOf<"text">] ?? 0;
        assert(Number.isInteger(count) && count >= 0, `${name}: ${key} is ${count}`);
      }
    }
  },
});

Deno.test({
  name: "a recorded stream counts alike for a caller of its format and of another",
  fn() {
    let compared = 0;
    for (const recording of recordings()) {
      if (recording.frames === null) continue;
      let pair: readonly (Usage | null)[];
      try {
        pair = usagesOfStream(recording);
      } catch {
        continue; // An invalid stream, recorded on purpose.
      }
      if (pair.includes(null)) continue;
      compared++;
      assertEquals(pair[0], pair[1], recording.name);
    }
    assert(compared > minRecordings(60), `${compared} streams were compared`);
  },
});

function sumOf(details: unknown, modality: string): number {
  const list = Array.isArray(details) ? details as JsonObject[] : [];
  return list.reduce((sum, each) => each.modality === modality ? sum + Number(each.tokenCount) : sum, 0);
}

Deno.test({
  name: `recorded Gemini replies are charged by modality as their details say${missing}`,
  ignore,
  fn() {
    const seen = { audio: 0, audio_cache_read: 0, image_output: 0, image_input: 0, web_search: 0 };
    for (const { name, form, whole } of recordings()) {
      const told = whole?.usageMetadata as JsonObject | undefined;
      if (form !== "content" || !whole || !told) continue;
      const quantities = textQuantitiesOf(CODECS.content.upstream.readUsage(whole)!);
      const cachedAudio = sumOf(told.cacheTokensDetails, "AUDIO");
      const cachedImages = sumOf(told.cacheTokensDetails, "IMAGE");
      const expected = {
        audio: sumOf(told.promptTokensDetails, "AUDIO") + sumOf(told.toolUsePromptTokensDetails, "AUDIO") - cachedAudio,
        audio_cache_read: cachedAudio,
        image_input: sumOf(told.promptTokensDetails, "IMAGE") + sumOf(told.toolUsePromptTokensDetails, "IMAGE") -
          cachedImages,
        image_output: sumOf(told.candidatesTokensDetails, "IMAGE"),
        web_search: new Set(
          (whole.candidates as JsonObject[]).flatMap(({ groundingMetadata }) =>
            ((groundingMetadata as JsonObject | undefined)?.webSearchQueries ?? []) as string[]
          ).filter((query) => query !== ""),
        ).size,
      };
      for (const key of Object.keys(expected) as (keyof typeof expected)[]) {
        assertEquals(quantities[key], expected[key], `${name}: ${key}`);
        if (expected[key] > 0) seen[key]++;
      }
    }
    assert(Object.values(seen).every((count) => count > 0), JSON.stringify(seen));
  },
});

Deno.test({
  name: `recorded searches, advisors and service tiers are counted${missing}`,
  ignore,
  fn() {
    const bySearch = usages().filter(([, { webSearches = 0 }]) => webSearches > 0).map(([name]) => name);
    for (const folder of ["anthropic", "google", "open-responses", "openai-responses", "openrouter"]) {
      assert(bySearch.some((name) => name.startsWith(folder)), `no search of ${folder} was counted`);
    }
    const advised = usages().filter(([name, { otherModels }]) => name.includes("advisor") && otherModels);
    assert(advised.length > 0);
    for (const [name, { otherModels }] of advised) {
      assert(otherModels!.every(({ model, usage }) => model.includes("opus") && usage.outputTokens > 0), name);
    }
    const tiers = usages().flatMap(([, { serviceTier }]) => serviceTier ?? []);
    assert(tiers.includes("flex"), tiers.join());
    assert(!tiers.some((tier) => ["default", "standard", "auto"].includes(tier)));
  },
});
