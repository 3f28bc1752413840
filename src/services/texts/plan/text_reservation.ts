import type { Reservation, ReservationRule } from "../../../money/billing/meter/meter.ts";
import { insufficientCredits } from "../../../money/billing/meter/meter.ts";
import {
  exactCostOf,
  type Money,
  type Rate,
  RATE_UNITS_PER_MONEY_UNIT,
  roundedMoney,
  writeMoney,
} from "../../../platform/lib/basics/money.ts";

/** The maximum that a request for text may consume, if its vendor respects the limits that it is sent. */
export interface TextMaximum {
  /** Prompt tokens outside any known cache. */
  readonly promptTokens: number;
  /** Prompt tokens of cached content. */
  readonly cachedTokens: number;
  /** Pictures in the prompt. */
  readonly pictures: number;
  /** Hosted tools, which the vendor itself runs. */
  readonly hostedTools: number;
  /** Searches by the vendor's own search tool. */
  readonly searches: number;
  /** Output tokens of one choice: the caller's limit, else the model's own. */
  readonly outputTokens: number;
  /** Output tokens that are reserved in addition to the caller's limit, because the vendor may reason beyond it. */
  readonly reasoningTokens: number;
  /** Requested choices: `n`, `best_of`, `candidateCount`. */
  readonly choices: number;
  /** The field of the caller's own limit. Null if the gateway may send one. */
  readonly limitField: string | null;
  /**
   * The most output tokens of one request to the vendor, for a model that goes on in further requests. Each of them
   * reads the prompt and the output so far. Default: one request makes the reply.
   */
  readonly hopTokens?: number;
  /** False if the whole context is reserved because the request refers to context that it does not include. */
  readonly isSizeKnown: boolean;
}

/** The maximum price of each part of a request. */
export interface TextRates {
  /** Per prompt token, fresh or written to a cache. */
  readonly prompt: Rate;
  /** Per prompt token read from a cache. */
  readonly cached: Rate;
  /** Per output token of any medium. */
  readonly output: Rate;
  /** Per input picture, in addition to its tokens. */
  readonly picture: Rate;
  /** Per search. */
  readonly search: Rate;
  /** Per request. */
  readonly request: Rate;
}

/** The minimum output limit, in tokens, that the gateway sends on its own. */
const MIN_OUTPUT_LIMIT_TOKENS = 1_024;

/** The number of calls of {@linkcode MIN_OUTPUT_LIMIT_TOKENS} that must be affordable beside one without a limit. */
const MIN_PARALLEL_CALLS = 9n;

/** A limit of the gateway costs at most this fraction of the spendable balance: a tenth. */
const MAX_SHARE_DIVISOR = 10n;

/**
 * Returns the reservation of a request for text. The caller's own limit is reserved as it is. Without one, the model's
 * limit is reserved if the balance covers it and nine small calls. Else the vendor is sent a limit worth a tenth of the
 * spendable balance, at least 1,024 tokens (or the model's limit, if that is lower). See docs/money.md.
 */
export function textReservation(measure: TextMaximum, rates: TextRates): ReservationRule {
  const bill = billOf(measure, rates);
  return measure.limitField === null ? modelLimitReservation(measure, bill) : callerLimitReservation(measure, bill);
}

/** Returns the highest cost of a request with this limit of output tokens for each choice. */
export function highestCost(measure: TextMaximum, rates: TextRates, outputTokens: number): Money {
  return billOf(measure, rates).costOf(outputTokens);
}

/**
 * Returns how a request fits into its existing reservation: the output limit that its vendor must be sent. The limit is
 * null if the caller's own limit or none is sent. Returns null if the request does not fit.
 */
export function fitWithin(
  amount: Money,
  measure: TextMaximum,
  rates: TextRates,
): { readonly outputLimit: number | null } | null {
  const bill = billOf(measure, rates);
  const own = measure.outputTokens;
  if (bill.costOf(own) <= amount) return { outputLimit: null };
  if (measure.limitField !== null) return null;
  const fitting = bill.tokensFor(amount - bill.base);
  // The parts of a bill are rounded separately and together.
  const limit = bill.costOf(fitting) > amount ? fitting - 1 : fitting;
  return limit < Math.min(own, MIN_OUTPUT_LIMIT_TOKENS) ? null : { outputLimit: limit };
}

/** The cost of one request by the output tokens of each choice. */
interface Bill {
  /** The cost of the prompt and the request itself. */
  readonly base: Money;
  /** Returns the total cost. */
  costOf(outputTokens: number): Money;
  /**
   * Returns the maximum number of output tokens of each choice that an amount covers. Negative if it does not cover the
   * base.
   */
  tokensFor(amount: Money): number;
}

function billOf(measure: TextMaximum, rates: TextRates): Bill {
  const { promptTokens, cachedTokens, pictures, searches, choices } = measure;
  const ratePerToken = choices === 1 ? rates.output : rates.output * BigInt(choices);
  const exact = exactCostOf(promptTokens, rates.prompt) + exactCostOf(cachedTokens, rates.cached) +
    exactCostOf(pictures, rates.picture) + exactCostOf(searches, rates.search) + exactCostOf(1, rates.request);
  const base = roundedMoney(exact);
  const linear = (amount: Money) => {
    if (amount < 0n) return -1;
    if (ratePerToken === 0n) return Infinity;
    return Number(amount * RATE_UNITS_PER_MONEY_UNIT / ratePerToken);
  };
  if (measure.hopTokens === undefined) {
    const costOf = (outputTokens: number) => roundedMoney(exact + exactCostOf(outputTokens, ratePerToken));
    return { base, costOf, tokensFor: linear };
  }
  const costOf = (outputTokens: number) =>
    roundedMoney(
      exact + exactCostOf(outputTokens, ratePerToken) + exactCostOf(readAgain(measure, outputTokens), rates.prompt),
    );
  return { base, costOf, tokensFor: (amount) => amount < 0n ? -1 : highestWithin(base + amount, measure, costOf) };
}

/**
 * The tokens that further requests of a reply read again: the prompt, and the output of those before. One request more
 * than the vendor's limit needs is counted, because a vendor may pause before it.
 */
function readAgain({ promptTokens, cachedTokens, hopTokens }: TextMaximum, outputTokens: number): number {
  if (hopTokens === undefined) return 0;
  const further = Math.ceil(outputTokens / hopTokens);
  const output = hopTokens * further * (further - 1) / 2 + outputTokens;
  return further * (promptTokens + cachedTokens) + output;
}

/** The highest number of output tokens, up to those of the measure, that an amount covers. */
function highestWithin(amount: Money, { outputTokens }: TextMaximum, costOf: (tokens: number) => Money): number {
  let [low, high] = [0, outputTokens];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (costOf(middle) <= amount) low = middle;
    else high = middle - 1;
  }
  return low;
}

function callerLimitReservation(measure: TextMaximum, bill: Bill): ReservationRule {
  const { outputTokens, reasoningTokens, limitField, isSizeKnown } = measure;
  const amount = bill.costOf(outputTokens);
  const reserved = reservationOf(measure, amount, null);
  return (spendable) => {
    if (amount <= spendable || amount === 0n) return reserved;
    const fitting = bill.tokensFor(spendable - bill.base - 1n) - reasoningTokens;
    if (fitting < 1) throw promptTooExpensive(bill.costOf(reasoningTokens), spendable, isSizeKnown);
    const why = `with "${limitField}" ${outputTokens - reasoningTokens} it may cost up to ${writeMoney(amount)} USD`;
    throw insufficientCredits(`${why} (expected at most ${fitting})`, spendable, limitField!);
  };
}

function modelLimitReservation(measure: TextMaximum, bill: Bill): ReservationRule {
  const { outputTokens: own, isSizeKnown } = measure;
  const whole = reservationOf(measure, bill.costOf(own), null);
  const minTokens = Math.min(own, MIN_OUTPUT_LIMIT_TOKENS);
  const parallel = MIN_PARALLEL_CALLS * bill.costOf(minTokens);
  return (spendable) => {
    if (whole.amount + parallel <= spendable || whole.amount === 0n) return whole;
    const share = Math.max(minTokens, bill.tokensFor(spendable / MAX_SHARE_DIVISOR));
    const limit = Math.min(own, share, bill.tokensFor(spendable - bill.base - 1n));
    if (limit < minTokens) throw promptTooExpensive(bill.costOf(minTokens), spendable, isSizeKnown);
    return limit === own ? whole : reservationOf(measure, bill.costOf(limit), limit);
  };
}

/**
 * A reservation with the tokens that count towards limits of tokens. Without an output limit of the caller only a short
 * reply is sure, and of a prompt of unknown size nothing is.
 */
function reservationOf(measure: TextMaximum, amount: Money, outputLimit: number | null): Reservation {
  const { promptTokens, cachedTokens, outputTokens, choices, limitField, isSizeKnown } = measure;
  const prompt = promptTokens + cachedTokens;
  const output = outputLimit ?? outputTokens;
  const knownOutput = limitField === null ? Math.min(output, MIN_OUTPUT_LIMIT_TOKENS) : output;
  const tokens = prompt + output * choices + readAgain(measure, output);
  const knownTokens = (isSizeKnown ? prompt : Math.min(prompt, MIN_OUTPUT_LIMIT_TOKENS)) + knownOutput * choices;
  return { amount, outputLimit, tokens, knownTokens };
}

function promptTooExpensive(amount: Money, spendable: Money, isSizeKnown: boolean): Error {
  const cost = `it may cost up to ${writeMoney(amount)} USD even with a short reply`;
  const why = isSizeKnown
    ? cost
    : `${cost}, because it refers to files, stored context or hosted tools of unknown size`;
  return insufficientCredits(why, spendable);
}
