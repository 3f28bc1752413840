import { highestReservation } from "../billing/highest_reservation.ts";
import { fixedReservation } from "../billing/meter.ts";
import { type ChargeKind, costOf, type Quantities } from "../billing/tariff.ts";
import type { Model } from "../catalog/model.ts";
import type { Usage } from "../conversation/usage.ts";
import type { RequestRecord } from "../http/request_record.ts";
import { elementAt } from "../lib/element_at.ts";
import type { MemoryLease } from "../lib/memory_budget.ts";
import { providerNameOf } from "../lib/provider_name.ts";
import type { LimitedCaller } from "../limits/limited_caller.ts";
import type { Candidate } from "../routing/candidates.ts";
import type { FallbackRule } from "../routing/fallback_rule.ts";
import { UpstreamFailure } from "../upstreams/failure.ts";
import type { WholeExchange } from "../upstreams/whole_exchange.ts";
import { vendorRequestIdOf } from "../upstreams/vendor_request_id.ts";
import { type CallOption, joinOptions, makeOptions } from "./options.ts";
import { type CallParts, routeOf, runPaidCall } from "./paid_call.ts";

/** The caller of a request that is answered in one piece, and what is known of it besides its body. */
export interface WholeCaller extends LimitedCaller {
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  readonly headerPin: string | null;
  /** Returns the signal that fires when the caller disconnects. */
  readonly callerSignal: () => AbortSignal;
  /** The memory lease for what is read for the request. */
  readonly memory: MemoryLease;
  /** Collects what happens to the request. */
  readonly record: RequestRecord;
}

/** What a request can use at most at one model. */
export interface WholeBound {
  readonly quantities: Quantities;
  /** For the limits of tokens. */
  readonly tokens: number;
}

/** What a provider returned for a request, and what it is charged for. */
export interface WholeOutcome<T> {
  readonly result: T;
  readonly quantities: Quantities;
  readonly usage: Usage;
}

/** A request that one vendor call answers in one piece, and that is charged when the answer is complete. */
export interface WholeCall<T> {
  readonly kind: ChargeKind;
  /** The model, then the fallbacks that are tried if all of its providers fail; at least one. */
  readonly models: readonly Model[];
  readonly bodyPin: string | null;
  readonly rule: FallbackRule;
  /** Whether a provider supports the request. */
  readonly isAble: (candidate: Candidate) => boolean;
  /** The error for a model of which no provider supports the request. */
  readonly unable: (model: Model) => Error;
  readonly boundOf: (model: Model) => WholeBound;
  /** Sends the request to a provider. */
  readonly send: (candidate: Candidate, model: Model, exchange: WholeExchange) => Promise<WholeOutcome<T>>;
}

/** The result of a call, and who served it. */
export interface WholeResult<T> {
  readonly result: T;
  /** By its configured name. */
  readonly provider: string;
  readonly model: Model;
}

interface WholeOption extends CallOption {
  readonly model: Model;
  readonly bound: WholeBound;
}

/**
 * Runs a request end to end: routes, admits, sends, charges. A caller who leaves does not stop the vendor's work, which
 * is charged.
 *
 * @throws {GatewayError} As {@linkcode runPaidCall}; what `unable` returns.
 */
export async function runWholeCall<T>(
  call: WholeCall<T>,
  caller: WholeCaller,
  parts: CallParts,
): Promise<WholeResult<T>> {
  const { requestId, accountId, keyId, receivedAt, record } = caller;
  const made = await makeOptions(call.models, (model) => optionOf(model, call, caller, parts));
  const { options, candidates, optionOf: optionFor } = joinOptions(made, { breaker: parts.breaker, accountId });
  const { model: first } = elementAt(options, 0);
  const amountOf = ({ bound, model }: WholeOption) => costOf(bound.quantities, model.tariff);
  return await runPaidCall<WholeResult<T>>({
    facts: { kind: call.kind, requestId, accountId, keyId, receivedAt, record, model: first },
    caller,
    author: "openai",
    candidates,
    isPaid: (candidate, { amount }) => amountOf(optionFor(candidate)) <= amount,
    rule: call.rule,
    callerSignal: caller.callerSignal,
    promptTokens: elementAt(options, 0).bound.tokens,
    reserve: highestReservation(options.map((each) => fixedReservation(amountOf(each), each.bound.tokens))),
    begin: (settlement) => async (candidate) => {
      const provider = providerNameOf(candidate.provider);
      if (caller.callerSignal().aborted) throw leftBefore(provider);
      const { model } = optionFor(candidate);
      const { result, quantities, usage } = await call.send(candidate, model, exchangeOf(caller));
      const charged = settlement.servedBy(model, null);
      await charged.charge({ provider, state: "completed", parts: [{ quantities, tariff: model.tariff }], usage });
      return { result, provider, model };
    },
  }, parts);
}

function optionOf<T>(model: Model, call: WholeCall<T>, caller: WholeCaller, parts: CallParts): WholeOption {
  const { accountId, headerPin, record } = caller;
  const { bodyPin, isAble } = call;
  const { candidates } = routeOf(model, { accountId, headerPin, bodyPin, isAble, record }, parts);
  if (candidates.length === 0) throw call.unable(model);
  return { model, candidates, bound: call.boundOf(model) };
}

function exchangeOf({ memory, record }: WholeCaller): WholeExchange {
  const recorded = record.lastAttempt;
  return {
    reserve: (bytes) => memory.reserve(bytes),
    onResponse(response) {
      if (recorded === null || recorded.status !== null) return;
      recorded.status = response.status;
      recorded.vendorRequestId = vendorRequestIdOf((name) => response.header(name));
    },
  };
}

/** No vendor is called for a disconnected caller. */
function leftBefore(provider: string): UpstreamFailure {
  const message = `Provider "${provider}" was cancelled`;
  return new UpstreamFailure(provider, "cancelled", message, { status: null, accepted: "no" });
}
