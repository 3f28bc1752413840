import { assertEquals } from "@std/assert";
import { withPlausibleTokens } from "../../src/services/caches/plausible_tokens.ts";
import type { CacheCreation, StoredContent } from "../../src/services/caches/cache_creation.ts";
import { readModel } from "../../src/vendors/catalog/model.ts";
import { recordingLog } from "../billing/support.ts";

const MODEL = readModel({
  id: "acme/m",
  context_length: 100_000,
  top_provider: { max_completion_tokens: 10_000 },
  serves: [{ provider: "acme" }],
});

/**
 * Returns the tokens that are charged for a cache with this vendor count, who counted them, and the logged reasons.
 */
async function chargedTokens(tokens: number): Promise<[tokens: number, countedBy: string | null, reasons: unknown[]]> {
  const log = recordingLog();
  const kept: StoredContent = {
    home: { kind: "native", provider: "acme", upstreamName: "cachedContents/x" },
    tokens,
    countedBy: "acme",
    expiresAt: 0,
    bytes: 0,
    droppedFields: [],
  };
  const content = { contents: [{ role: "user", parts: [{ text: "The sky is blue" }] }] };
  const creation = { id: "c1", model: MODEL, content } as unknown as CacheCreation;
  const result = await withPlausibleTokens(kept, creation, { log, countHere: () => Promise.resolve(7) }, "req_1");
  return [result.tokens, result.countedBy, log.lines.map(({ event, fields }) => [event, fields.reason])];
}

Deno.test("withPlausibleTokens() accepts a count up to context and output", async () => {
  assertEquals(await chargedTokens(1), [1, "acme", []]);
  assertEquals(await chargedTokens(110_000), [110_000, "acme", []]);
});

Deno.test("withPlausibleTokens() caps a count above the limit, and counts itself where the vendor counts nothing", async () => {
  assertEquals(await chargedTokens(1e10), [100_000, "acme", [["usage_implausible", "above_ceiling"]]]);
  assertEquals(await chargedTokens(0), [7, null, [["usage_implausible", "unreadable"]]]);
});
