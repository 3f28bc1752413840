import * as z from "zod";
import { section, setting } from "../../platform/lib/settings/setting.ts";
import { duration, number } from "../../platform/lib/settings/settings.ts";

/** The source of the prices that come with the program. */
const BUILT_IN_SOURCE = "built_in";
const HOUR = 3_600;
const DAY = 24 * HOUR;
const SOURCE_EXPECTATION = `${BUILT_IN_SOURCE}, an address without a user, or the path of a file`;

/** The `prices` section: where prices come from. Source: docs/models.md#prices-that-arrive. */
export const pricesSchema = section({
  source: setting(
    z.string(SOURCE_EXPECTATION).min(1, SOURCE_EXPECTATION).max(2_048, SOURCE_EXPECTATION)
      .refine(isSource, SOURCE_EXPECTATION),
    {
      default: BUILT_IN_SOURCE,
      text: "Where prices of built-in and listed models come from: [prices that arrive](models.md#prices-that-arrive)",
      example: "https://openrouter.ai/api/v1/models",
    },
  ),
  every: setting(duration(60, 30 * DAY), {
    default: 6 * HOUR,
    text: "The time between two readings",
    example: "1h",
    unit: "seconds",
  }),
  max_change: setting(number(0, 1_000), {
    default: 0.5,
    text: "The part by which a price may change without a person",
    example: 0.2,
    unit: "share",
  }),
  keep: setting(duration(HOUR, 3_650 * DAY), {
    default: 30 * DAY,
    text: "The time without a reading after which `doctor` and the overview warn",
    example: "7d",
    unit: "seconds",
  }),
}).transform((read) => ({ ...read, isBuiltIn: read.source === BUILT_IN_SOURCE })).prefault({});

/** The `prices` section as it was read. With a source that is built in, nothing is read. */
export type PricesConfig = z.output<typeof pricesSchema>;

function isSource(value: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return true;
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return false;
  const { username, password } = new URL(value);
  return username === "" && password === "";
}
