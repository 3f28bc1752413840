import { assertEquals } from "@std/assert";
import { Settlement } from "../../src/services/calls/settlement.ts";
import { readModel } from "../../src/vendors/catalog/model.ts";
import { unobservedRecord } from "../support/unobserved_record.ts";
import { checkConsumption } from "../../src/services/images/checked_consumption.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import type { ImageConsumption } from "../../src/vendors/upstreams/contract/image_upstream.ts";
import { ManualClock } from "../support/manual_clock.ts";

const reported = (counters: Partial<ImageConsumption>): ImageConsumption => ({
  textTokens: 10,
  imageTokens: 0,
  cachedTokens: 0,
  outputTokens: 1_056,
  outputTextTokens: 0,
  ...counters,
});

/** A bill for two images of a model with this context and these prices. */
function billOf(context_length: number, pricing: Record<string, string>) {
  const model = readModel({
    id: "acme/painter",
    image: {},
    context_length,
    top_provider: { max_completion_tokens: 5_000 },
    pricing,
    serves: [{ provider: "acme" }],
  });
  const admission = {
    reserved: { amount: 0n, outputLimit: null },
    charge: () => Promise.resolve(),
    release() {},
    onOverdrawn() {},
  };
  const facts = {
    kind: "image",
    requestId: "r",
    accountId: "a",
    keyId: "key_1",
    receivedAt: 0,
    record: unobservedRecord(),
    model,
  } as const;
  const parts = { meter: { invalidate() {} }, clock: new ManualClock(), log: silentLog };
  const measure = { prompt: "a fox", quality: "low", size: null, count: 2, given: 0 };
  return { settlement: new Settlement(facts, admission, parts), measure };
}

const BY_TOKENS = billOf(10_000, { prompt: "0.000005", image_output: "0.00004" });

Deno.test("checkConsumption() accepts what two images can consume", () => {
  for (const consumption of [reported({}), reported({ textTokens: 0 }), reported({ outputTokens: 10_000 })]) {
    assertEquals(checkConsumption(BY_TOKENS, consumption, 2), { consumption, reason: null });
  }
});

Deno.test("checkConsumption() caps what exceeds context and output of both images", () => {
  const { consumption, reason } = checkConsumption(BY_TOKENS, reported({ outputTokens: 1e9 }), 2);
  assertEquals([consumption?.outputTokens, consumption?.textTokens, reason], [10_000, 10, "above_ceiling"]);
  const prompt = checkConsumption(BY_TOKENS, reported({ imageTokens: 1e10, cachedTokens: 1e10 }), 2).consumption;
  assertEquals([prompt?.textTokens, prompt?.imageTokens, prompt?.cachedTokens], [10, 19_990, 20_000]);
});

Deno.test("checkConsumption() returns null for counters that cannot be read, or that omit the images", () => {
  const nothing = { consumption: null, reason: "unreadable" } as const;
  const unreadable = { ...reported({ textTokens: 0, outputTokens: 0 }), isUnreadable: true };
  assertEquals(checkConsumption(BY_TOKENS, unreadable, 2), nothing);
  assertEquals(checkConsumption(BY_TOKENS, reported({ outputTokens: 0 }), 2), nothing);
  const byPicture = billOf(10_000, { per_image: "0.04" });
  assertEquals(checkConsumption(byPicture, reported({ outputTokens: 0 }), 2).reason, null);
});

Deno.test("checkConsumption() has no limit for a model whose context is unknown", () => {
  const bill = billOf(0, { image_output: "0.00004" });
  assertEquals(checkConsumption(bill, reported({ outputTokens: 1e9 }), 2).reason, null);
  assertEquals(checkConsumption(bill, reported({ outputTokens: 1e10 }), 2).reason, "unreadable");
});
