import { DAY_MS } from "../../money/billing/usage/usage_records.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { exactCostOf, type Money } from "../../platform/lib/basics/money.ts";
import { nextTurn } from "../../platform/lib/streams/loop_turns.ts";
import type { LoggedRequest, RequestLog } from "../../observers/request_log/request_log.ts";
import type { OwnRow } from "./own_sums.ts";

/** What was charged by one price key. */
export interface LoggedDimension {
  quantity: number;
  /** In thousandths of 10^-18 USD. */
  exact: bigint;
}

/** Requests that have something in common. */
export interface LoggedGroup {
  count: number;
  cost: Money;
  /** The ids of the most expensive ones. */
  readonly samples: { readonly id: string; readonly cost: Money }[];
}

/** The charged requests of a model and a day in the log of requests. */
export interface LoggedCharges {
  /** Whether they are all requests that the ledger has. */
  isComplete: boolean;
  readonly all: LoggedGroup;
  readonly dimensions: Map<string, LoggedDimension>;
  /** Whose tokens the gateway counted. */
  readonly estimated: LoggedGroup;
  /** That began on the day before. */
  readonly overnight: LoggedGroup;
  /** By the condition that decided their prices. */
  readonly conditions: Map<string, LoggedGroup>;
}

const PAGE = 200;
/** 10,000 requests of one model and day are read at most. */
const MAX_PAGES = 50;
const MAX_SAMPLES = 5;

/**
 * Reads the charged requests of a model and a day.
 *
 * @returns Null if requests are not logged, or the log cannot be read now.
 */
export async function readLoggedCharges(
  log: RequestLog | null,
  provider: string,
  rows: readonly OwnRow[],
): Promise<LoggedCharges | null> {
  if (log === null) return null;
  const charges: LoggedCharges = {
    isComplete: false,
    all: newGroup(),
    dimensions: new Map(),
    estimated: newGroup(),
    overnight: newGroup(),
    conditions: new Map(),
  };
  try {
    for (const { day, models } of rows) {
      for (const model of models) await readOne(log, { provider, day, model }, charges);
    }
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
  charges.isComplete = charges.all.cost === rows.reduce((sum, { cost }) => sum + cost, 0n);
  return charges;
}

interface LoggedDay {
  readonly provider: string;
  readonly day: number;
  readonly model: string;
}

async function readOne(log: RequestLog, { provider, day, model }: LoggedDay, charges: LoggedCharges): Promise<void> {
  const from = day * DAY_MS;
  let after: number | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { provider, model, from, to: from + DAY_MS, order: "asc", limit: PAGE } as const;
    const { requests, next } = await log.list(after === null ? query : { ...query, after });
    for (const request of requests) {
      if (request.provider !== provider || request.servedModel !== model || !request.cost) continue;
      add(charges, request, from);
    }
    if (next === null) return;
    after = next;
    await nextTurn();
  }
}

function add(charges: LoggedCharges, request: LoggedRequest, dayStart: number): void {
  const { charged, priceReasons, tokens, receivedAt } = request;
  addTo(charges.all, request);
  if (tokens?.isEstimated) addTo(charges.estimated, request);
  if (receivedAt < dayStart) addTo(charges.overnight, request);
  for (const reason of priceReasons) {
    const group = charges.conditions.get(reason) ?? newGroup();
    charges.conditions.set(reason, group);
    addTo(group, request);
  }
  for (const { price, quantity, rate } of charged) {
    const found = charges.dimensions.get(price) ?? { quantity: 0, exact: 0n };
    charges.dimensions.set(price, found);
    found.quantity += quantity;
    found.exact += exactCostOf(quantity, rate);
  }
}

function newGroup(): LoggedGroup {
  return { count: 0, cost: 0n, samples: [] };
}

function addTo(group: LoggedGroup, { requestId: id, cost }: LoggedRequest): void {
  const amount = cost ?? 0n;
  group.count++;
  group.cost += amount;
  const place = group.samples.findIndex((each) => each.cost < amount);
  if (place >= 0) group.samples.splice(place, 0, { id, cost: amount });
  else group.samples.push({ id, cost: amount });
  if (group.samples.length > MAX_SAMPLES) group.samples.pop();
}
