import * as z from "zod";
import { writeMoney } from "../../../platform/lib/basics/money.ts";

const Billed = z.object({ usage: z.object({ cost_in_usd_ticks: z.int().nonnegative() }) });

/**
 * Reads the cost of an xAI response, in decimal USD; null if it is absent or zero. A tick is 10^-10 USD. Source: xAI
 * API reference, "Usage".
 */
export function readCostUsd(body: unknown): string | null {
  const ticks = Billed.safeParse(body).data?.usage.cost_in_usd_ticks ?? 0;
  return ticks === 0 ? null : writeMoney(BigInt(ticks));
}
