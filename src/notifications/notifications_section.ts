import * as z from "zod";
import { type Money, readMoney } from "../lib/money.ts";
import { optional, type ReadContext, receiverAddress, secret } from "../lib/settings.ts";

/** Where the notifications of the operator are sent, and when balances are low. */
export interface NotificationsConfig {
  /** The https address that gets all notifications; null, the default, for the log alone. */
  readonly url: string | null;
  /** Signs them. Present if there is an address. */
  readonly secret: string | null;
  /** Below which a balance is low. Default: what lasts three days. */
  readonly balanceLow: readonly BalanceThreshold[];
}

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

/** The schema of the `notifications` section. */
export const notificationsSchema: z.ZodType<NotificationsConfig> = z.strictObject({
  url: optional(receiverAddress()),
  secret: optional(secret(MIN_SECRET_CHARACTERS)),
  balance_low: z.array(threshold, THRESHOLDS_EXPECTATION).max(MAX_THRESHOLDS, THRESHOLDS_EXPECTATION)
    .refine((texts) => new Set(texts).size === texts.length, THRESHOLDS_EXPECTATION).default(["3d"]),
}).superRefine(({ url, secret: given }, context) => {
  if (url === null || given !== null) return;
  context.addIssue({ code: "custom", path: ["secret"], message: "a secret, since an address is set", input: given });
}).transform(({ balance_low: texts, ...rest }) => ({
  ...rest,
  balanceLow: texts.flatMap((text) => thresholdIn(text) ?? []),
}));

/** The `notifications` section. Throws {@linkcode z.ZodError} with the path of every bad field. */
export function readNotificationsSection(value: unknown, context?: ReadContext): NotificationsConfig {
  return notificationsSchema.parse(value, context);
}

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
