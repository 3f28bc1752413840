import { ConfigError } from "../../../config/tree/config_error.ts";
import { PROVIDER_STATES_SECTION, type StoredConfig, storedStatesIn } from "../../../config/tree/plain_tree.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import type { StoredProviderState } from "../../../platform/names/provider_halt.ts";
import type { SetProviderState } from "../../../protocols/admin/providers.ts";
import { type ServiceState, serviceStateOf } from "../../../vendors/upstreams/settings/serving_providers.ts";
import type { ConfigChanges } from "./config_changes.ts";

/** Creates the function that sets the states of providers, which are kept with the settings in the store. */
export function providerStates(changes: ConfigChanges, now: () => number): SetProviderState {
  return async (name, state, { by, reason }): Promise<ServiceState> => {
    const known = ownValue(changes.inForce.config.providers, name);
    if (known === undefined) {
      const names = Object.keys(changes.inForce.config.providers).map((each) => `"${each}"`).join(", ");
      throw new GatewayError("not_found", `Cannot find the provider: no provider has this name; there are ${names}`);
    }
    // A repeat keeps who has set it first, and since when. It can give a reason, or another one.
    const { setState } = known;
    const isRepeat = state === (setState?.state ?? null);
    if (isRepeat && (reason === undefined || reason === setState?.reason)) return serviceStateOf(known);
    const first = isRepeat && setState !== undefined ? setState : { by, since: now() };
    const set = state && { state, by: first.by, since: first.since, ...reason !== undefined && { reason } };
    await changes.change((content) => withState(content, name, set), { by })
      .catch((error) => {
        if (!(error instanceof ConfigError)) throw error;
        // Only the file can have become invalid, which the change reads again.
        throw new GatewayError("conflict", `The state was not changed: ${error.problems.join("; ")}`);
      });
    return serviceStateOf(ownValue(changes.inForce.config.providers, name) ?? {});
  };
}

function withState(
  content: StoredConfig,
  name: string,
  set: StoredProviderState | null,
): StoredConfig {
  const { [name]: _before, ...others } = storedStatesIn(content);
  return { ...content, [PROVIDER_STATES_SECTION]: set === null ? others : { ...others, [name]: set } };
}
