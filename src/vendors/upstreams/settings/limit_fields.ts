import { setting } from "../../../platform/lib/settings/setting.ts";
import { wholeNumber } from "../../../platform/lib/settings/settings.ts";

const MAX_PER_MINUTE = 1_000_000_000;
const MAX_CONCURRENCY = 1_000_000;
const otherwise = "no limit";

/** The settings `rpm`, `tpm` and `concurrency` of `whose`: a provider, or one of its credentials. */
export function limitFields(whose: string) {
  return {
    rpm: setting(wholeNumber(1, MAX_PER_MINUTE, "requests").optional(), {
      text: `Requests per minute of all callers through ${whose}`,
      example: 5000,
      otherwise,
    }),
    tpm: setting(wholeNumber(1, MAX_PER_MINUTE, "tokens").optional(), {
      text: `Tokens per minute through ${whose}`,
      example: 2000000,
      otherwise,
    }),
    concurrency: setting(wholeNumber(1, MAX_CONCURRENCY, "requests").optional(), {
      text: `Simultaneous requests through ${whose}, each to the end of its reply`,
      example: 100,
      otherwise,
    }),
  };
}
