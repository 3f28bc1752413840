import { elementAt } from "../../platform/lib/collections/element_at.ts";
import { providerNameOf } from "../../platform/names/provider_name.ts";
import { TEXT_FALLBACK } from "../../vendors/routing/fallback_rule.ts";
import { UpstreamFailure } from "../../vendors/upstreams/call/failure.ts";
import { vendorRequestIdOf } from "../../vendors/upstreams/call/vendor_request_id.ts";
import type { WholeExchange } from "../../vendors/upstreams/call/whole_exchange.ts";
import { type CallParts, runPaidCall } from "./paid_call.ts";
import type { WholeCall, WholeCaller, WholeResult } from "./whole_call.ts";
import { routeWholeCall } from "./whole_route.ts";

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
  const { options, candidates, optionOf, reserve, upstreams } = await routeWholeCall(call, caller, parts);
  const { model: first, bound } = elementAt(options, 0);
  return await runPaidCall<WholeResult<T>>({
    facts: { kind: call.kind, requestId, accountId, keyId, receivedAt, record, model: first },
    caller,
    author: "openai",
    candidates,
    isPaid: (candidate, { amount }) => optionOf(candidate).amount <= amount,
    rule: call.rule ?? TEXT_FALLBACK,
    callerSignal: caller.callerSignal,
    promptTokens: bound.tokens,
    reserve,
    begin: (settlement) => async (candidate) => {
      const name = providerNameOf(candidate.provider);
      if (caller.callerSignal().aborted) throw leftBefore(name);
      const { model } = optionOf(candidate);
      const provider = parts.providers.get(candidate.provider)!;
      const upstream = upstreams.get(candidate.provider)!;
      const sent = { caller, candidate, model, provider, upstream, exchange: exchangeOf(caller) };
      const dropped = call.droppedAt(upstream, candidate.model);
      record.dropped = dropped;
      const { result, quantities, usage } = await call.send(sent);
      const charged = settlement.servedBy(model, null);
      await charged.charge({
        provider: name,
        state: "completed",
        parts: [{ quantities, tariff: model.tariff }],
        usage,
      });
      return { result, provider: name, model, dropped };
    },
  }, parts);
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
