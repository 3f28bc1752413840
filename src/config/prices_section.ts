import * as z from "zod";
import { duration, number, type ReadContext } from "../lib/settings.ts";
import { BUILT_IN_SOURCE, type PricesConfig } from "../prices/settings.ts";

const HOUR = 3_600;
const DAY = 24 * HOUR;
const SOURCE_EXPECTATION = `${BUILT_IN_SOURCE}, an address without a user, or the path of a file`;

/** The schema of the `prices` section. */
export const pricesSchema: z.ZodType<PricesConfig> = z.strictObject({
  source: z.string(SOURCE_EXPECTATION).min(1, SOURCE_EXPECTATION).max(2_048, SOURCE_EXPECTATION)
    .refine(isSource, SOURCE_EXPECTATION).default(BUILT_IN_SOURCE),
  every: duration(60, 30 * DAY).default(6 * HOUR * 1_000),
  max_change: number(0, 1_000).default(0.5),
  keep: duration(HOUR, 3_650 * DAY).default(30 * DAY * 1_000),
}).transform(({ source, every, max_change: maxChange, keep }) => ({
  source,
  isBuiltIn: source === BUILT_IN_SOURCE,
  everyMs: every,
  maxChange,
  keepMs: keep,
}));

/** The `prices` section. Throws {@linkcode z.ZodError} with the path of every bad field. */
export function readPricesSection(value: unknown, context?: ReadContext): PricesConfig {
  return pricesSchema.parse(value, context);
}

function isSource(value: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return true;
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return false;
  const { username, password } = new URL(value);
  return username === "" && password === "";
}
