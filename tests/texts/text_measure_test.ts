import { assertEquals } from "@std/assert";
import { readModel } from "../../src/vendors/catalog/model.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { readRate } from "../../src/platform/lib/basics/money.ts";
import { measureOf } from "../../src/services/texts/plan/text_measure.ts";
import { CODECS } from "../support/formats.ts";

const PRICES = {
  prompt: "0.000003",
  completion: "0.000015",
  input_cache_write_5m: "0.00000375",
  input_cache_write_1h: "0.000006",
  image_input: "0.000004",
  audio: "0.00004",
  web_search: "0.01",
};

const MODEL = readModel({
  id: "acme/m",
  serves: [{ provider: "acme" }],
  pricing: PRICES,
  context_length: 200_000,
  top_provider: { max_completion_tokens: 64_000 },
});

function measured(form: CallerFormatName, body: JsonObject, { takesAnyFile = false } = {}) {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  return { bytes: bytes.length, ...measureOf({ format: CODECS[form].caller, body, bytes }, MODEL, { takesAnyFile }) };
}

const said = (content: unknown) => ({ model: "acme/m", messages: [{ role: "user", content }] });

Deno.test("measureOf() counts two bytes as a token, and uses the model's limit if the caller sets none", () => {
  const { bytes, measure, rates } = measured("chat", said("hello"));
  assertEquals([measure.promptTokens, measure.outputTokens, measure.choices], [Math.ceil(bytes / 2), 64_000, 1]);
  assertEquals([measure.limitField, measure.isSizeKnown], [null, true]);
  // A vendor may write a prompt to a cache of its own.
  assertEquals([rates.prompt, rates.output], [readRate("0.00000375"), readRate("0.000015")]);
});

Deno.test("measureOf() counts a picture as 16,000 tokens, whatever the size of its base64", () => {
  const url = `data:image/png;base64,${"A".repeat(100_000)}`;
  const { bytes, measure } = measured("chat", said([{ type: "image_url", image_url: { url } }]));
  assertEquals(measure.promptTokens, Math.ceil((bytes - url.length) / 2) + 16_000);
});

Deno.test("measureOf() reserves the whole context at the highest price for content that a request refers to", () => {
  const { measure, rates } = measured("responses", { model: "acme/m", input: "hi", previous_response_id: "resp_1" });
  assertEquals([measure.promptTokens, measure.isSizeKnown], [200_000, false]);
  assertEquals(rates.prompt, readRate("0.00004"));
});

Deno.test("measureOf() treats a picture's address as a file if a vendor does", () => {
  const body = said([{ type: "image_url", image_url: { url: "https://a.example/cat.png" } }]);
  assertEquals(measured("chat", body).measure.isSizeKnown, true);
  assertEquals(measured("chat", body, { takesAnyFile: true }).measure.isSizeKnown, false);
});

Deno.test("measureOf() does not inspect a body whose bytes fill the context", () => {
  const { measure } = measured("chat", { ...said("x".repeat(500_000)), n: 3 });
  assertEquals([measure.promptTokens, measure.isSizeKnown, measure.choices], [200_000, true, 3]);
});

Deno.test("measureOf() counts choices, searches and reasoning beyond the caller's limit", () => {
  const candidates = { contents: [], generation_config: { candidate_count: 4, max_output_tokens: 100 } };
  assertEquals(measured("content", candidates).measure.choices, 4);
  const searching = { ...said("hi"), tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 3 }] };
  assertEquals(measured("messages", searching).measure.searches, 3);
  const thinking = measured("chat", { ...said("hi"), max_tokens: 500, reasoning_effort: "high" }).measure;
  assertEquals([thinking.outputTokens, thinking.reasoningTokens], [1_524, 1_024]);
  const own = measured("messages", { ...said("hi"), max_tokens: 500, thinking: { budget_tokens: 400 } }).measure;
  assertEquals([own.outputTokens, own.reasoningTokens], [500, 0]);
});

Deno.test("measureOf() prices a prompt with an hour's cache lifetime as such", () => {
  const parts = [{ type: "text", text: "hi", cache_control: { type: "ephemeral", ttl: "1h" } }];
  assertEquals(measured("messages", said(parts)).rates.prompt, readRate("0.000006"));
});

Deno.test("measureOf() prices a prompt with twelve hours' cache lifetime as such", () => {
  const priced = { input_cache_write_30m: "0.0000025", input_cache_write_12h: "0.000005", prompt: "0.000002" };
  const model = readModel({ id: "acme/m", serves: [{ provider: "acme" }], pricing: priced });
  const promptRate = (options: JsonObject) => {
    const body = { ...said("hi"), ...options };
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    return measureOf({ format: CODECS.chat.caller, body, bytes }, model, { takesAnyFile: false }).rates.prompt;
  };
  assertEquals(promptRate({}), readRate("0.0000025"));
  assertEquals(promptRate({ prompt_cache_options: { ttl: "30m" } }), readRate("0.0000025"));
  assertEquals(promptRate({ prompt_cache_options: { ttl: "12h" } }), readRate("0.000005"));
});
