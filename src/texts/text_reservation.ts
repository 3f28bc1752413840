import type { ReservationRule } from "../billing/meter.ts";
import { insufficientCredits } from "../billing/meter.ts";
import { type BillLine, type Money, type Rate, RATE_UNITS_PER_MONEY_UNIT, sumOf, writeMoney } from "../lib/money.ts";

/** What a request for text may consume at most, if its vendor keeps the limits that it is sent. */
export interface TextMeasure {
  /** Prompt tokens that no known cache holds. */
  readonly promptTokens: number;
  /** Prompt tokens of a cached content. */
  readonly cachedTokens: number;
  /** Pictures in the prompt. */
  readonly pictures: number;
  /** Hosted tools: those that the vendor runs itself. */
  readonly hostedTools: number;
  /** Searches by the vendor's own search tool. */
  readonly searches: number;
  /** Output tokens of one choice: the caller's limit, else the model's own. */
  readonly outputTokens: number;
  /** How many of them are reserved beside the caller's limit, because a vendor may be told to think beyond it. */
  readonly reasoningTokens: number;
  /** Choices that are asked for: `n`, `best_of`, `candidateCount`. */
  readonly choices: number;
  /** The field of the caller's own limit; null where the gateway may send one. */
  readonly limitField: string | null;
  /** False when the whole context is reserved because the request names context that it does not carry. */
  readonly isCarried: boolean;
}

/** The highest price that each part of a request can come to. */
export interface TextRates {
  /** Of one prompt token, fresh or written to a cache. */
  readonly prompt: Rate;
  /** Of one prompt token read from a cache. */
  readonly cached: Rate;
  /** Of one output token of any medium. */
  readonly output: Rate;
  /** Of one picture that is given, apart from its tokens. */
  readonly picture: Rate;
  /** Of one search. */
  readonly search: Rate;
  /** Of one request. */
  readonly request: Rate;
}

/** Output tokens below which the gateway sends no limit of its own. */
const MIN_OUTPUT_LIMIT_TOKENS = 1_024;

/** The calls of {@linkcode MIN_OUTPUT_LIMIT_TOKENS} that must fit beside one whose output is not limited. */
const CALLS_BESIDE = 9n;

/** The share of what is spendable that a limit of the gateway is worth: a tenth. */
const SHARE = 10n;

/**
 * What a request for text reserves. A limit of the caller's own is reserved as it is. Without one the model's own limit
 * is reserved where it fits and leaves room for nine small calls; else the vendor is sent a limit worth a tenth of what
 * is spendable, at least 1,024 tokens (or the model's own limit, where that is lower). See docs/money.md.
 */
export function textReserve(measure: TextMeasure, rates: TextRates): ReservationRule {
  const bill = billOf(measure, rates);
  return measure.limitField === null ? ownLimitReserve(measure, bill) : callersLimitReserve(measure, bill);
}

/**
 * How a request fits into what is reserved for it already: the limit of output tokens that its vendor must be sent,
 * which is null where the caller's own or none is sent. Null when it does not fit.
 */
export function fitWithin(
  amount: Money,
  measure: TextMeasure,
  rates: TextRates,
): { readonly outputLimit: number | null } | null {
  const bill = billOf(measure, rates);
  const own = measure.outputTokens;
  if (bill.costOf(own) <= amount) return { outputLimit: null };
  if (measure.limitField !== null) return null;
  const most = bill.tokensFor(amount - bill.base);
  // Parts of a bill are rounded apart from each other and together.
  const limit = bill.costOf(most) > amount ? most - 1 : most;
  return limit < Math.min(own, MIN_OUTPUT_LIMIT_TOKENS) ? null : { outputLimit: limit };
}

/** Costs of one request by the output tokens of each choice. */
interface Bill {
  /** Of the prompt and the request itself. */
  readonly base: Money;
  /** Of everything. */
  costOf(outputTokens: number): Money;
  /** The most output tokens of each choice that an amount pays for; negative when it does not even pay the base. */
  tokensFor(amount: Money): number;
}

function billOf(measure: TextMeasure, rates: TextRates): Bill {
  const { promptTokens, cachedTokens, pictures, searches, choices } = measure;
  const lines: readonly BillLine[] = [
    { quantity: promptTokens, rate: rates.prompt },
    { quantity: cachedTokens, rate: rates.cached },
    { quantity: pictures, rate: rates.picture },
    { quantity: searches, rate: rates.search },
    { quantity: 1, rate: rates.request },
  ];
  const ratePerToken = rates.output * BigInt(choices);
  const base = sumOf(lines);
  return {
    base,
    costOf: (outputTokens) => sumOf([...lines, { quantity: outputTokens, rate: ratePerToken }]),
    tokensFor(amount) {
      if (amount < 0n) return -1;
      if (ratePerToken === 0n) return Infinity;
      return Number(amount * RATE_UNITS_PER_MONEY_UNIT / ratePerToken);
    },
  };
}

function callersLimitReserve(measure: TextMeasure, bill: Bill): ReservationRule {
  const { outputTokens, reasoningTokens, limitField, isCarried } = measure;
  const amount = bill.costOf(outputTokens);
  const reserved = { amount, outputLimit: null };
  return (spendable) => {
    if (amount <= spendable || amount === 0n) return reserved;
    const fitting = bill.tokensFor(spendable - bill.base - 1n) - reasoningTokens;
    if (fitting < 1) throw promptTooDear(bill.costOf(reasoningTokens), spendable, isCarried);
    const why = `with "${limitField}" ${outputTokens - reasoningTokens} it may cost up to ${writeMoney(amount)} USD`;
    throw insufficientCredits(`${why} (expected at most ${fitting})`, spendable, limitField!);
  };
}

function ownLimitReserve({ outputTokens: own, isCarried }: TextMeasure, bill: Bill): ReservationRule {
  const whole = { amount: bill.costOf(own), outputLimit: null };
  const least = Math.min(own, MIN_OUTPUT_LIMIT_TOKENS);
  const beside = CALLS_BESIDE * bill.costOf(least);
  return (spendable) => {
    if (whole.amount + beside <= spendable || whole.amount === 0n) return whole;
    const share = Math.max(least, bill.tokensFor(spendable / SHARE));
    const limit = Math.min(own, share, bill.tokensFor(spendable - bill.base - 1n));
    if (limit < least) throw promptTooDear(bill.costOf(least), spendable, isCarried);
    return limit === own ? whole : { amount: bill.costOf(limit), outputLimit: limit };
  };
}

function promptTooDear(amount: Money, spendable: Money, isCarried: boolean): Error {
  const cost = `it may cost up to ${writeMoney(amount)} USD even with a short reply`;
  const why = isCarried ? cost : `${cost}, as it names files, stored context or hosted tools of unknown size`;
  return insufficientCredits(why, spendable);
}
