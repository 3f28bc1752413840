import * as z from "zod";
import type { NotificationEvent } from "../../../src/services/webhooks/envelope.ts";
import { about, seconds, usd } from "../schema.ts";

const word = () => z.string().nullable();
const instant = (meaning: string) => about(z.int().nullable(), `${meaning} Unix seconds.`);
const holder = {
  account: z.string(),
  key: about(word(), "Null for the account itself."),
  name: word(),
};

const prices = () => z.record(z.string(), z.string()).nullable();
const change = {
  model: z.string(),
  before: about(prices(), "Null if the model had no price."),
  after: about(prices(), "Null if the source no longer has the model."),
};

const DATA: Readonly<Record<NotificationEvent, z.ZodType>> = {
  "balance.low": z.object({
    account: z.string(),
    threshold: about(z.string(), "As in `notifications.balance_low`."),
    balance: usd("What can be spent"),
    overdraft: usd("How far the balance may fall below zero"),
    spent_per_day: usd("The present rate"),
    lasts_until: instant("When nothing is left at this rate; null for never."),
  }),
  "budget.reached": z.object({
    ...holder,
    level: about(z.int(), "Percent: 50, 80 or 100."),
    amount: usd("The budget"),
    per: z.enum(["day", "week", "month", "total"]),
    spent: usd("Spent and held in the period"),
    resets_at: instant("The end of the period; null for none."),
  }),
  "key.expiring": z.object({ ...holder, expires_at: seconds() }),
  "model.deprecated": z.object({ model: z.string(), expiration_date: z.string(), redirected_to: word() }),
  "price.changed": z.object({
    applied: about(z.array(z.object(change)), "At most 100."),
    applied_count: z.int(),
    pending: about(
      z.array(z.object({ ...change, reason: z.enum(["max_change", "zero", "vanished"]) })),
      "Changes that wait for a person; at most 100.",
    ),
    pending_count: z.int(),
    stale_since: instant("Since when the price source could not be read; null if it can."),
  }),
  "provider.failing": z.object({
    provider: z.string(),
    credential: word(),
    reason: z.enum(["unavailable", "credential_rejected"]),
    since: instant("The last failure."),
  }),
};

/** The body of a notification. Source: docs/api/webhooks.md#notifications. */
export function notificationBody(event: NotificationEvent): z.ZodType {
  return z.object({ event: z.literal(event), id: z.uuid(), created_at: seconds(), data: DATA[event] });
}
