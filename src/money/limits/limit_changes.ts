import type * as z from "zod";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { writeMoney } from "../../platform/lib/basics/money.ts";
import type { AccessLimits } from "./access_limits.ts";
import type { AccessLimitFields } from "./access_settings.ts";

/** Limits as {@linkcode AccessLimitFields} read them. Undefined: kept. Null: removed. */
export type LimitChanges = {
  readonly [name in keyof AccessLimitFields]?: z.output<AccessLimitFields[name]>;
};

/**
 * Changes limits by the fields that are given: null removes a limit, undefined keeps it.
 *
 * @returns Undefined if nothing is limited any more.
 */
export function changedLimits(before: AccessLimits | undefined, given: LimitChanges): AccessLimits | undefined {
  const models = changed(before?.models, given.models);
  const endpoints = changed(before?.endpoints, given.endpoints);
  const providers = changed(before?.providers, given.providers);
  const ipAllow = changed(before?.ipAllow, given.ip_allow);
  const rpm = changed(before?.rpm, given.rpm);
  const tpm = changed(before?.tpm, given.tpm);
  const concurrency = changed(before?.concurrency, given.concurrency);
  const budget = changed(before?.budget, given.budget);
  const limits: AccessLimits = {
    ...models && { models },
    ...endpoints && { endpoints },
    ...providers && { providers },
    ...ipAllow && { ipAllow },
    ...rpm && { rpm },
    ...tpm && { tpm },
    ...concurrency && { concurrency },
    ...budget && { budget },
  };
  return Object.keys(limits).length === 0 ? undefined : limits;
}

/** The value of a field after a change: null removes it, undefined keeps it. */
export function changed<T>(before: T | undefined, given: T | null | undefined): T | undefined {
  return given === undefined ? before : given ?? undefined;
}

/** Writes limits by the names that operators use; null for no limit. */
export function writeLimits(limits: AccessLimits = {}): JsonObject {
  const { models, endpoints, providers, ipAllow, rpm, tpm, concurrency, budget } = limits;
  return {
    models: models ?? null,
    endpoints: endpoints ?? null,
    providers: providers ?? null,
    ip_allow: ipAllow ?? null,
    rpm: rpm ?? null,
    tpm: tpm ?? null,
    concurrency: concurrency ?? null,
    budget: budget === undefined ? null : { amount: writeMoney(budget.amount), per: budget.per },
  };
}
