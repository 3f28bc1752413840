import { NO_USAGE, promptTokensOf, type Usage } from "../../../conversation/neutral/usage.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import { isSuccess, type LineReply } from "../lines/line_runner.ts";
import type { BatchRecord, BatchUsage } from "../records/batch.ts";
import { failuresAfter } from "./failures.ts";

interface CountedLine {
  readonly reply: LineReply;
  readonly paid?: Money;
}

/** The counts, the cost and the tokens of a batch after some more lines are settled. */
export function countsAfter(batch: BatchRecord, lines: readonly CountedLine[]): Partial<BatchRecord> {
  const failures = lines.map(({ reply }) => reply).filter((reply) => !isSuccess(reply));
  const failed = failures.length;
  let { cost, usage } = batch;
  for (const { reply: { charge }, paid = 0n } of lines) {
    cost += paid;
    if (charge === null) continue;
    cost += charge.amount;
    usage = sumOf(usage, charge.usage);
  }
  return {
    cost,
    usage,
    failed: batch.failed + failed,
    completed: batch.completed + lines.length - failed,
    ...failed > 0 && { failures: failuresAfter(batch, failures) },
  };
}

function sumOf(sum: BatchUsage, counters: Partial<Usage> = {}): BatchUsage {
  const usage: Usage = { ...NO_USAGE, ...counters };
  return {
    inputTokens: sum.inputTokens + promptTokensOf(usage),
    cachedTokens: sum.cachedTokens + usage.cacheReadTokens,
    outputTokens: sum.outputTokens + usage.outputTokens,
    reasoningTokens: sum.reasoningTokens + usage.reasoningTokens,
  };
}
