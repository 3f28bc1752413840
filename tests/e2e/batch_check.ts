import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { accountMoney } from "../support/account_money.ts";
import { PRICING, type TestGateway } from "../support/gateway.ts";
import type { BatchCaller } from "./batch_callers.ts";
import { FAMILIES } from "./family_features.ts";

/** One model of each kind of vendor. */
export const BATCH_FAMILIES = FAMILIES.filter(({ name }) =>
  ["GPT-6.2", "GPT-6, chat only", "Claude Opus 5.5", "Gemini 4"].includes(name)
);

/** Sections of the configuration of a gateway for batches, whose clients poll without a pause. */
export const batchConfig = (folder: string) => ({
  files: `${folder}/files`,
  limits: { reads: { requests: 100_000, per: 1, burst: 10_000 } },
});

/** A client, and where it runs a batch. */
export interface BatchCheck {
  readonly caller: BatchCaller;
  /** With the prices of the tests. */
  readonly gateway: TestGateway;
  /** A folder for downloads. */
  readonly folder: string;
  readonly model: string;
}

/**
 * Runs a batch with a client, which must show a reply to each request, and the tokens that were charged.
 *
 * @throws {Error} If it does not, or what the client throws.
 */
export async function checkBatchCaller({ caller, gateway, folder, model }: BatchCheck): Promise<void> {
  const account = accountMoney(gateway);
  const before = await account.balance();
  const questions = new Map([["first", "Hello harbor"], ["second", "Hello lighthouse"]]);
  const { address, key } = gateway;
  const replies = await caller.run({ address, key, folder, model }, questions);
  assertEquals(replies.map(({ id }) => id).sort(), [...questions.keys()]);
  for (const { id, text } of replies) assertStringIncludes(text, questions.get(id) ?? "?");
  const cost = replies.reduce((sum, { promptTokens, outputTokens }) => {
    assert(promptTokens > 0 && outputTokens > 0);
    return sum + promptTokens * Number(PRICING.prompt) + outputTokens * Number(PRICING.completion);
  }, 0);
  assertEquals((Number(before - await account.balance()) / 1e10).toFixed(9), cost.toFixed(9));
}
