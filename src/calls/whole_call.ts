import { highestReservation } from "../billing/highest_reservation.ts";
import { fixedReservation } from "../billing/meter.ts";
import { type ChargeKind, costOf, type Quantities } from "../billing/tariff.ts";
import type { Model } from "../catalog/model.ts";
import type { Usage } from "../conversation/usage.ts";
import type { RequestRecord } from "../http/request_record.ts";
import { elementAt } from "../lib/element_at.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import type { MemoryLease } from "../lib/memory_budget.ts";
import { providerNameOf } from "../lib/provider_name.ts";
import type { LimitedCaller } from "../limits/limited_caller.ts";
import type { Candidate } from "../routing/candidates.ts";
import { type FallbackRule, TEXT_FALLBACK } from "../routing/fallback_rule.ts";
import { UpstreamFailure } from "../upstreams/failure.ts";
import type { Provider } from "../upstreams/provider.ts";
import { vendorRequestIdOf } from "../upstreams/vendor_request_id.ts";
import type { WholeExchange } from "../upstreams/whole_exchange.ts";
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

/** One attempt of a call. */
export interface WholeAttempt<U> {
  readonly candidate: Candidate;
  readonly model: Model;
  readonly provider: Provider;
  readonly upstream: U;
  readonly exchange: WholeExchange;
}

/**
 * A request that one vendor call answers in one piece, and that is charged when the answer is complete. `U` is the
 * capability that serves it.
 */
export interface WholeCall<U, T> {
  readonly kind: ChargeKind;
  /** The model, then the fallbacks that are tried if all of its providers fail; at least one. */
  readonly models: readonly Model[];
  readonly bodyPin: string | null;
  /** Default: as for texts. */
  readonly rule?: FallbackRule;
  /** What a provider without the capability does not do: `makes embeddings`. */
  readonly capability: string;
  /** Loads the capability of a provider; undefined if it lacks the capability. */
  readonly load: (provider: Provider) => Promise<U> | undefined;
  /** Why an upstream cannot serve the request; null if it can. Default: it can. */
  readonly mistakeAt?: (upstream: U) => GatewayError | null;
  readonly boundOf: (model: Model) => WholeBound;
  /** Sends the request to a provider. */
  readonly send: (attempt: WholeAttempt<U>) => Promise<WholeOutcome<T>>;
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
 * @throws {GatewayError} As {@linkcode runPaidCall}; `route_error` if no provider of the model has the capability; what
 * `mistakeAt` returns.
 */
export async function runWholeCall<U, T>(
  call: WholeCall<U, T>,
  caller: WholeCaller,
  parts: CallParts,
): Promise<WholeResult<T>> {
  const { requestId, accountId, keyId, receivedAt, record } = caller;
  const upstreams = await loadCapability(call, parts.providers);
  const made = await makeOptions(call.models, (model) => optionOf(model, { call, caller, parts, upstreams }));
  const { options, candidates, optionOf: optionFor } = joinOptions(made, { breaker: parts.breaker, accountId });
  const { model: first } = elementAt(options, 0);
  const amountOf = ({ bound, model }: WholeOption) => costOf(bound.quantities, model.tariff);
  return await runPaidCall<WholeResult<T>>({
    facts: { kind: call.kind, requestId, accountId, keyId, receivedAt, record, model: first },
    caller,
    author: "openai",
    candidates,
    isPaid: (candidate, { amount }) => amountOf(optionFor(candidate)) <= amount,
    rule: call.rule ?? TEXT_FALLBACK,
    callerSignal: caller.callerSignal,
    promptTokens: elementAt(options, 0).bound.tokens,
    reserve: highestReservation(options.map((each) => fixedReservation(amountOf(each), each.bound.tokens))),
    begin: (settlement) => async (candidate) => {
      const name = providerNameOf(candidate.provider);
      if (caller.callerSignal().aborted) throw leftBefore(name);
      const { model } = optionFor(candidate);
      const provider = parts.providers.get(candidate.provider)!;
      const upstream = upstreams.get(candidate.provider)!;
      const sent = { candidate, model, provider, upstream, exchange: exchangeOf(caller) };
      const { result, quantities, usage } = await call.send(sent);
      const charged = settlement.servedBy(model, null);
      await charged.charge({
        provider: name,
        state: "completed",
        parts: [{ quantities, tariff: model.tariff }],
        usage,
      });
      return { result, provider: name, model };
    },
  }, parts);
}

/** The capability of all providers of the models, by the provider's id. */
async function loadCapability<U, T>(
  { models, load }: WholeCall<U, T>,
  providers: ReadonlyMap<string, Provider>,
): Promise<ReadonlyMap<string, U>> {
  const loaded = new Map<string, U>();
  for (const { serves } of models) {
    for (const { provider: name, credentials = [] } of serves) {
      for (const id of [name, ...credentials.map(({ provider }) => provider)]) {
        const provider = loaded.has(id) ? undefined : providers.get(id);
        const capability = provider && await load(provider);
        if (capability !== undefined) loaded.set(id, capability);
      }
    }
  }
  return loaded;
}

interface OptionParts<U, T> {
  readonly call: WholeCall<U, T>;
  readonly caller: WholeCaller;
  readonly parts: CallParts;
  readonly upstreams: ReadonlyMap<string, U>;
}

function optionOf<U, T>(model: Model, { call, caller, parts, upstreams }: OptionParts<U, T>): WholeOption {
  const { accountId, headerPin, record } = caller;
  const { bodyPin, mistakeAt = () => null } = call;
  let mistake: GatewayError | null = null;
  const isAble = ({ provider }: Candidate) => {
    const upstream = upstreams.get(provider);
    if (upstream === undefined) return false;
    const found = mistakeAt(upstream);
    mistake ??= found;
    return found === null;
  };
  const { candidates } = routeOf(model, { accountId, headerPin, bodyPin, isAble, record }, parts);
  if (candidates.length > 0) return { model, candidates, bound: call.boundOf(model) };
  throw mistake ?? new GatewayError("route_error", `Cannot route: no provider of "${model.id}" ${call.capability}`);
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
