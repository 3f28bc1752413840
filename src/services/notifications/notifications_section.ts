import * as z from "zod";
import { type Money, readMoney } from "../../platform/lib/basics/money.ts";
import { section, setting } from "../../platform/lib/settings/setting.ts";
import { receiverAddress, secret } from "../../platform/lib/settings/settings.ts";

/** A threshold of what an account can spend. */
export type BalanceThreshold =
  & {
    /** As it was written. */
    readonly text: string;
  }
  & ({ readonly amount: Money } | {
    /** How long the balance lasts at the present rate. */
    readonly days: number;
  });

const MIN_SECRET_CHARACTERS = 8;
const MAX_THRESHOLDS = 10;
const THRESHOLD_EXPECTATION = 'a decimal amount in USD above zero, such as "5.00", or days, such as "3d"';
const THRESHOLDS_EXPECTATION = `a list of up to ${MAX_THRESHOLDS} amounts and days without repetitions`;

const threshold = z.preprocess(
  (value) => typeof value === "number" ? String(value) : value,
  z.string(THRESHOLD_EXPECTATION).refine((text) => thresholdIn(text) !== null, THRESHOLD_EXPECTATION),
);

/** The `notifications` section: where the notifications of the operator are sent, and when balances are low. */
export const notificationsSchema = section({
  url: setting(receiverAddress(), {
    default: null,
    text: "Gets all [notifications](webhooks.md#notifications)",
    example: "https://ops.example.com/switchyard",
    otherwise: "none: they are only in the log",
  }),
  secret: setting(secret(MIN_SECRET_CHARACTERS), {
    default: null,
    text: "Signs them",
    example: "${NOTIFICATIONS_SECRET}",
    otherwise: "none; required with `url`",
  }),
  balance_low: setting(
    z.array(threshold, THRESHOLDS_EXPECTATION).max(MAX_THRESHOLDS, THRESHOLDS_EXPECTATION)
      .refine((texts) => new Set(texts).size === texts.length, THRESHOLDS_EXPECTATION)
      .transform((texts) => texts.flatMap((text) => thresholdIn(text) ?? [])),
    {
      default: ["3d"],
      text: "Below which a balance is low: US dollars, or days at the present rate",
      example: ["5.00", "3d"],
      write: (thresholds: readonly BalanceThreshold[]) => thresholds.map(({ text }) => text),
    },
  ),
}).superRefine(({ url, secret: given }, context) => {
  if (url === null || given !== null) return;
  context.addIssue({ code: "custom", path: ["secret"], message: "a secret, since an address is set", input: given });
}).prefault({});

/** The `notifications` section as it was read. */
export type NotificationsConfig = z.output<typeof notificationsSchema>;

/** Reads a threshold; null if the text is none. */
export function thresholdIn(text: string): BalanceThreshold | null {
  const [, days] = /^(\d{1,4})d$/.exec(text) ?? [];
  if (days !== undefined) return Number(days) > 0 ? { text, days: Number(days) } : null;
  try {
    const amount = readMoney(text);
    return amount > 0n ? { text, amount } : null;
  } catch {
    return null;
  }
}
