import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { ceilingOf, checkUsage, type UsageLimits } from "../../src/services/calls/plausible_usage.ts";
import { NO_USAGE, promptTokensOf, type Usage } from "../../src/conversation/neutral/usage.ts";

const LIMITS: UsageLimits = { contextTokens: 100_000, outputTokens: 10_000, choices: 1, hostedCalls: 0 };

const WITH_CONTENT = { hasPrompt: true, hasOutput: true };

const usageOf = (freshTokens: number, outputTokens: number): Usage => ({ ...NO_USAGE, freshTokens, outputTokens });

Deno.test("a usage up to context and output together is accepted", () => {
  for (const usage of [usageOf(1, 0), usageOf(100_000, 10_000), usageOf(105_000, 5_000)]) {
    assertEquals(checkUsage(usage, LIMITS, { hasPrompt: true, hasOutput: false }), { verdict: "plausible", usage });
  }
});

Deno.test("a usage above the limit is capped on the side that exceeds it", () => {
  assertEquals(checkUsage(usageOf(1e10, 5), LIMITS, WITH_CONTENT), {
    verdict: "above_ceiling",
    usage: usageOf(100_000, 5),
  });
  assertEquals(checkUsage(usageOf(5, 1e10), LIMITS, WITH_CONTENT), {
    verdict: "above_ceiling",
    usage: usageOf(5, 10_000),
  });
});

Deno.test("choices raise the limit of the output, hosted tool calls that of both sides", () => {
  assertEquals(ceilingOf({ ...LIMITS, choices: 8 }), { prompt: 100_000, output: 80_000 });
  assertEquals(ceilingOf({ ...LIMITS, hostedCalls: 3 }), { prompt: 400_000, output: 40_000 });
  assertEquals(ceilingOf({ ...LIMITS, hostedCalls: 1e9 }), { prompt: 5_100_000, output: 510_000 });
  assertEquals(ceilingOf({ ...LIMITS, outputTokens: 0 }), { prompt: 100_000, output: 100_000 });
});

Deno.test("a model of unknown context has no limit, and impossible counters are rejected", () => {
  const limits = { ...LIMITS, contextTokens: 0 };
  assertEquals(checkUsage(usageOf(9e9, 9e9), limits, WITH_CONTENT).verdict, "plausible");
  assertEquals(checkUsage(usageOf(1e10, 5), limits, WITH_CONTENT).verdict, "unreadable");
});

Deno.test("a usage of zero is rejected when the call had content to count", () => {
  assertEquals(checkUsage(usageOf(0, 5), LIMITS, WITH_CONTENT).verdict, "unreadable");
  assertEquals(checkUsage(usageOf(5, 0), LIMITS, WITH_CONTENT).verdict, "unreadable");
  assertEquals(checkUsage(usageOf(5, 0), LIMITS, { hasPrompt: true, hasOutput: false }).verdict, "plausible");
  assertEquals(checkUsage({ ...usageOf(5, 5), isUnreadable: true }, LIMITS, WITH_CONTENT).verdict, "unreadable");
});

Deno.test("no accepted usage exceeds the limit, and no counter exceeds the reported one", () => {
  const count = fc.oneof(fc.nat(200_000), fc.nat(10_000_000_000));
  const anyUsage = fc.record({
    freshTokens: count,
    cacheReadTokens: count,
    cacheWrite5mTokens: count,
    cacheWrite1hTokens: count,
    toolPromptTokens: count,
    outputTokens: count,
    reasoningTokens: count,
    imageOutputTokens: count,
  });
  const anyLimits = fc.record({
    contextTokens: fc.integer({ min: 1, max: 1_000_000 }),
    outputTokens: fc.nat(100_000),
    choices: fc.integer({ min: 1, max: 128 }),
    hostedCalls: fc.nat(100),
  });
  fc.assert(fc.property(anyUsage, anyLimits, (reported, limits) => {
    const checked = checkUsage(reported, limits, WITH_CONTENT);
    if (checked.verdict === "unreadable") return;
    const { usage } = checked;
    const ceiling = ceilingOf(limits)!;
    assert(promptTokensOf(usage) + usage.outputTokens <= ceiling.prompt + ceiling.output);
    for (const name of Object.keys(reported) as (keyof typeof reported)[]) {
      const counted = usage[name] ?? 0;
      assert(counted <= reported[name] && Number.isSafeInteger(counted));
    }
  }));
});

Deno.test("the parts of a usage shrink with their side, also those of other models", () => {
  const usage = { ...usageOf(200_000, 20_000), audioInputTokens: 100_000, imageOutputTokens: 2 };
  const reported = { ...usage, otherModels: [{ model: "other", usage: usageOf(50_000, 10_000) }] };
  const cut = { ...usageOf(100_000, 10_000), audioInputTokens: 50_000, imageOutputTokens: 1 };
  assertEquals(checkUsage(reported, LIMITS, WITH_CONTENT), {
    verdict: "above_ceiling",
    usage: { ...cut, otherModels: [{ model: "other", usage: usageOf(25_000, 5_000) }] },
  });
});

Deno.test("more than a hundred searches, and excessive hosted tool calls, are rejected for any context", () => {
  const searching = (webSearches: number) => ({ ...usageOf(5, 5), webSearches });
  for (const contextTokens of [0, 100_000]) {
    const limits = { ...LIMITS, contextTokens, hostedCalls: 7 };
    assertEquals(checkUsage(searching(107), limits, WITH_CONTENT).verdict, "plausible");
    assertEquals(checkUsage(searching(1e10), limits, WITH_CONTENT), {
      verdict: "above_ceiling",
      usage: searching(107),
    });
  }
});
