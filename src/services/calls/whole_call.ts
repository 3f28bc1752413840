import type { ChargeKind, Quantities } from "../../money/billing/prices/tariff.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import type { Usage } from "../../conversation/neutral/usage.ts";
import type { RequestRecord } from "../../platform/http/request/request_record.ts";
import type { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { HeldMemory } from "../../platform/lib/process/memory_budget.ts";
import type { LimitedCaller } from "../../money/limits/limited_caller.ts";
import type { Candidate } from "../../vendors/routing/candidates.ts";
import type { FallbackRule } from "../../vendors/routing/fallback_rule.ts";
import type { Provider } from "../../vendors/upstreams/contract/provider.ts";
import type { WholeExchange } from "../../vendors/upstreams/call/whole_exchange.ts";

/** The caller of a request that is answered in one piece, and what is known of it besides its body. */
export interface WholeCaller extends LimitedCaller {
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  readonly headerPin: string | null;
  /** Returns the signal that fires when the caller disconnects. */
  readonly callerSignal: () => AbortSignal;
  /** The memory lease for what is read for the request. */
  readonly memory: HeldMemory;
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
  readonly caller: WholeCaller;
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
  /** The model as the caller named it. */
  readonly modelName: string;
  readonly bodyPin: string | null;
  /** Default: as for texts. */
  readonly rule?: FallbackRule;
  /** What a provider without the capability does not do: `makes embeddings`. */
  readonly capability: string;
  /** Loads the capability of a provider; undefined if it lacks the capability. */
  readonly load: (provider: Provider) => Promise<U> | undefined;
  /** Why an upstream cannot serve the request; null if it can. Default: it can. */
  readonly mistakeAt?: (upstream: U) => GatewayError | null;
  /** The fields that an upstream is not sent, for a model by the vendor's name. */
  readonly droppedAt: (upstream: U, upstreamModel: string) => readonly string[];
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
  /** The fields of the request that the provider was not sent. */
  readonly dropped: readonly string[];
}
