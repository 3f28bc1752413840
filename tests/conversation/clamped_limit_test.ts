import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { CODECS, FORMATS } from "../support/formats.ts";

function fit(form: typeof FORMATS[number], body: JsonObject, most = 16_384) {
  return CODECS[form].caller.clampLimit(body, most);
}

Deno.test("clampLimit() keeps a limit that is not above the model's", () => {
  for (const format of FORMATS) assertEquals(fit(format, {}), null);
  assertEquals(fit("chat", { max_tokens: 16_384 }), null);
  assertEquals(fit("messages", { max_tokens: 16_384, thinking: { type: "enabled", budget_tokens: 16_000 } }), null);
});

Deno.test("clampLimit() lowers the limit of each format", () => {
  assertEquals(fit("chat", { max_tokens: 32_000 }), { set: { max_tokens: 16_384 }, fields: ["max_tokens"] });
  assertEquals(fit("chat", { max_completion_tokens: 32_000 })?.set, { max_completion_tokens: 16_384 });
  assertEquals(fit("responses", { max_output_tokens: 32_000 })?.set, { max_output_tokens: 16_384 });
  assertEquals(fit("messages", { max_tokens: 32_000 })?.set, { max_tokens: 16_384 });
  assertEquals(fit("content", { generationConfig: { topK: 3, maxOutputTokens: 32_000 } }), {
    set: { generationConfig: { topK: 3, maxOutputTokens: 16_384 } },
    fields: ["generationConfig.maxOutputTokens"],
  });
  assertEquals(fit("content", { generation_config: { max_output_tokens: 32_000 } })?.set, {
    generation_config: { max_output_tokens: 16_384 },
  });
});

Deno.test("clampLimit() lowers a reasoning budget that no longer fits, in proportion", () => {
  const thinking = (budget_tokens: number, most?: number) =>
    fit("messages", { max_tokens: 32_000, thinking: { type: "enabled", budget_tokens } }, most);
  assertEquals(thinking(10_000), { set: { max_tokens: 16_384 }, fields: ["max_tokens"] });
  assertEquals(thinking(20_000), {
    set: { max_tokens: 16_384, thinking: { type: "enabled", budget_tokens: 10_240 } },
    fields: ["max_tokens", "thinking.budget_tokens"],
  });
  assertEquals(thinking(31_999)?.set.thinking, { type: "enabled", budget_tokens: 16_383 });
  assertEquals(thinking(2_000, 1_500)?.set.thinking, { type: "enabled", budget_tokens: 1_024 });
  assertEquals(thinking(2_000, 1_000), {
    set: { max_tokens: 1_000, thinking: { type: "disabled" } },
    fields: ["max_tokens", "thinking"],
  });
  const generationConfig = { maxOutputTokens: 32_768, thinkingConfig: { thinkingBudget: 24_576 } };
  assertEquals(fit("content", { generationConfig }), {
    set: { generationConfig: { maxOutputTokens: 16_384, thinkingConfig: { thinkingBudget: 12_288 } } },
    fields: ["generationConfig.maxOutputTokens", "generationConfig.thinkingConfig.thinkingBudget"],
  });
});
