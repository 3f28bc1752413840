import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { MAX_COUNTER_TOKENS, outputSideOf } from "../../src/conversation/neutral/usage.ts";
import { CODECS, FORMATS } from "../support/formats.ts";

/** Usage as vendors of each format report it. */
function reportOf(form: CallerFormatName, produced: number, thought: number): Record<string, unknown> {
  switch (form) {
    case "chat": {
      const details = { completion_tokens_details: { reasoning_tokens: thought } };
      return { usage: { prompt_tokens: 9, completion_tokens: produced, ...details } };
    }
    case "responses":
      return {
        usage: { input_tokens: 9, output_tokens: produced, output_tokens_details: { reasoning_tokens: thought } },
      };
    case "messages":
      return {
        usage: { input_tokens: 9, output_tokens: produced, output_tokens_details: { thinking_tokens: thought } },
      };
    case "content":
      return { usageMetadata: { promptTokenCount: 9, candidatesTokenCount: produced, thoughtsTokenCount: thought } };
  }
}

for (const form of FORMATS) {
  Deno.test(`${form} usage: output is never less than reasoning`, () => {
    const usage = CODECS[form].upstream.readUsage(reportOf(form, 0, 50));
    assertEquals([usage?.outputTokens, usage?.reasoningTokens], [50, 50]);
  });
}

Deno.test("outputSideOf() adds reasoning that the vendor excluded from the output", () => {
  assertEquals(outputSideOf(10, 50), { outputTokens: 60, reasoningTokens: 50 });
  assertEquals(outputSideOf(60, 50), { outputTokens: 60, reasoningTokens: 50 });
  const counter = fc.nat(MAX_COUNTER_TOKENS);
  fc.assert(fc.property(counter, counter, (produced, thought) => {
    const { outputTokens, reasoningTokens } = outputSideOf(produced, thought);
    assertEquals(reasoningTokens <= outputTokens && outputTokens <= MAX_COUNTER_TOKENS, true);
    assertEquals(outputTokens >= produced, true);
  }));
});
