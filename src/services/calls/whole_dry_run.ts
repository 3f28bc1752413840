import type { Model } from "../../vendors/catalog/model.ts";
import { elementAt } from "../../platform/lib/collections/element_at.ts";
import type { Money } from "../../platform/lib/basics/money.ts";
import { providerNameOf } from "../../platform/names/provider_name.ts";
import { byWeight } from "../../vendors/routing/candidates.ts";
import { type ProbedAdmission, probedAdmission } from "./dry_run.ts";
import type { CallParts } from "./paid_call.ts";
import type { WholeBound, WholeCall, WholeCaller } from "./whole_call.ts";
import { routeWholeCall, type WholeOption } from "./whole_route.ts";

/** The providers of a model that may serve a call. */
export interface WholeServing {
  readonly model: Model;
  /** Most likely first; at least one. */
  readonly providers: readonly string[];
}

/** The result of a dry run: at the named model, or at the first fallback that can serve the request. */
export interface WholeDryRun extends WholeServing {
  /** The models that follow if all providers fail. */
  readonly fallbacks: readonly WholeServing[];
  /** The maximum consumption at the model. */
  readonly bound: WholeBound;
  /** The cost of that. */
  readonly maxCost: Money;
  /** The fields that at least one of the providers would not be sent. */
  readonly dropped: readonly string[];
  /** Whether it would be admitted now. */
  readonly admission: ProbedAdmission;
}

/**
 * Runs a call without execution: routes it and probes its admission. Nothing is sent, charged or taken.
 *
 * @throws {GatewayError} What a real call would throw before a vendor is called, except for a refusal by the balance
 * or a limit.
 */
export async function dryRunWholeCall<U, T>(
  call: WholeCall<U, T>,
  caller: WholeCaller,
  parts: CallParts,
): Promise<WholeDryRun> {
  const { options, reserve, upstreams } = await routeWholeCall(call, caller, parts);
  const admission = await probedAdmission(() => parts.meter.probe(caller, reserve));
  const first = elementAt(options, 0);
  const limit = admission.reserved?.amount ?? null;
  // A real call skips fallbacks above what is reserved.
  const fallbacks = options.slice(1).filter(({ amount }) => limit === null || amount <= limit);
  const { candidates, bound, amount: maxCost } = first;
  const dropped = candidates.flatMap(({ provider, model }) => call.droppedAt(upstreams.get(provider)!, model));
  return {
    ...servingOf(first, caller, parts),
    fallbacks: fallbacks.map((option) => servingOf(option, caller, parts)),
    bound,
    maxCost,
    dropped: [...new Set(dropped)],
    admission,
  };
}

function servingOf(
  { model, candidates }: WholeOption,
  { accountId }: WholeCaller,
  { breaker }: CallParts,
): WholeServing {
  const likely = byWeight(candidates, { breaker, accountId });
  return { model, providers: [...new Set(likely.map(({ provider }) => providerNameOf(provider)))] };
}
