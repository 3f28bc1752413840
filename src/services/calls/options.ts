import { elementAt } from "../../platform/lib/collections/element_at.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { chain, type MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import { type Candidate, openCircuitsLast, type RoutingContext } from "../../vendors/routing/candidates.ts";
import { HaltedProvidersError } from "../../vendors/routing/halted_providers.ts";

/** A model that may serve a call, and its providers in the order in which they are tried; at least one. */
export interface CallOption {
  readonly candidates: readonly Candidate[];
}

/** The options of a call, preferred first, and all their candidates in the order in which they are tried. */
export interface CallOptions<O extends CallOption> {
  readonly options: readonly O[];
  readonly candidates: readonly Candidate[];
  /** The option of a candidate. */
  optionOf(candidate: Candidate): O;
}

/**
 * Creates the options of a call. A failure for the first model is thrown; a later model that cannot serve the call is
 * left out. Misconfigured and halted providers count as failing providers and are reported only if no option is left.
 * The result is immediate for one model, unless `make` returns a promise.
 *
 * @throws {GatewayError} What `make` throws for the first.
 */
export function makeOptions<T, O extends CallOption>(
  items: readonly T[],
  make: (item: T) => MaybePromise<O>,
): MaybePromise<readonly O[]> {
  if (items.length > 1) return makeSeveral(items, make);
  return chain(make(elementAt(items, 0)), (only) => [only]);
}

async function makeSeveral<T, O extends CallOption>(
  items: readonly T[],
  make: (item: T) => MaybePromise<O>,
): Promise<readonly O[]> {
  const options: O[] = [];
  let unusable: unknown = null;
  try {
    options.push(await make(elementAt(items, 0)));
  } catch (error) {
    const isMisconfigured = error instanceof GatewayError && error.code === "upstream_auth_failed";
    if (!isMisconfigured && !(error instanceof HaltedProvidersError)) throw error;
    unusable = error;
  }
  for (const other of items.slice(1)) {
    try {
      options.push(await make(other));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
    }
  }
  if (options.length === 0) throw unusable;
  return options;
}

/**
 * Joins the options of a call in order, with open circuits after all others.
 *
 * @param options At least one. No two share a candidate.
 */
export function joinOptions<O extends CallOption>(
  options: readonly O[],
  context: Pick<RoutingContext, "breaker" | "accountId">,
): CallOptions<O> {
  const [first] = options;
  if (first !== undefined && options.length === 1) {
    return {
      options,
      candidates: first.candidates,
      optionOf: () => first,
    };
  }
  const owners = new Map(options.flatMap((option) => option.candidates.map((each) => [each, option] as const)));
  return {
    options,
    candidates: openCircuitsLast([...owners.keys()], context),
    optionOf: (candidate) => owners.get(candidate)!,
  };
}
