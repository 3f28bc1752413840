import type { Serving } from "../catalog/model.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { providerNameOf } from "../../platform/names/provider_name.ts";

/**
 * The operator has halted every provider that could get a request. Fallback models are tried. The message does not name
 * the operator, as callers read it; `explain` does.
 */
export class HaltedProvidersError extends GatewayError {}

/**
 * Removes the candidates that get no new requests.
 *
 * @param pin The provider that the caller named; null for none.
 * @throws {HaltedProvidersError} If there are some and none is left: `provider_type_unavailable` (400) with a pin,
 * since no repeat of the request can succeed; else `route_error` with 503.
 */
export function withoutHalted<S extends Serving>(candidates: readonly S[], pin: string | null): readonly S[] {
  if (candidates.every(({ halt }) => halt === undefined)) return candidates;
  const running = candidates.filter(({ halt }) => halt === undefined);
  if (running.length > 0) return running;
  const names = [...new Set(candidates.map(({ provider }) => `"${providerNameOf(provider)}"`))];
  const taken = names.length === 1
    ? `the operator has taken provider ${names[0]} out of service`
    : `the operator has taken the providers ${names.join(", ")} out of service`;
  if (pin !== null) {
    const message = `Cannot route: ${taken}; leave out the provider, or name another one`;
    throw new HaltedProvidersError("provider_type_unavailable", message);
  }
  throw new HaltedProvidersError("route_error", `Cannot route: ${taken}`, { status: 503 });
}

/**
 * The candidates for work that was accepted before it begins, such as a video task. A provider that is drained gets it
 * if no other provider can.
 *
 * @param pin The provider that the caller named; null for none.
 * @throws {HaltedProvidersError} As {@linkcode withoutHalted}, if all are off.
 */
export function forAcceptedWork(candidates: readonly Serving[], pin: string | null): readonly Serving[] {
  const chosen = pin === null ? candidates : candidates.filter(({ provider }) => provider === pin);
  const draining = chosen.filter(({ halt }) => halt?.state === "drain");
  if (draining.length === 0 || chosen.some(({ halt }) => halt === undefined)) return withoutHalted(chosen, pin);
  return draining.map(unhalted);
}

function unhalted({ halt: _halt, credentials, ...serving }: Serving): Serving {
  return { ...serving, ...credentials && { credentials: credentials.map(unhalted) } };
}
