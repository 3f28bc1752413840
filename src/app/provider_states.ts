import { ConfigError } from "../config/config_error.ts";
import { PROVIDER_STATES_SECTION, type StoredConfig, storedStatesIn } from "../config/plain_tree.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import { ownValue } from "../lib/own_value.ts";
import type { OperatedState } from "../lib/provider_halt.ts";
import type { SetProviderState } from "../protocols/admin/providers.ts";
import { type ServiceState, serviceStateOf } from "../upstreams/serving_providers.ts";
import type { ConfigChanges } from "./config_changes.ts";

/** Creates the function that sets the states of providers, which are kept with the settings in the store. */
export function providerStates(changes: ConfigChanges, now: () => number): SetProviderState {
  return async (name, state, by): Promise<ServiceState> => {
    const known = ownValue(changes.inForce.config.providers, name);
    if (known === undefined) {
      const names = Object.keys(changes.inForce.config.providers).map((each) => `"${each}"`).join(", ");
      throw new GatewayError("not_found", `Cannot find the provider: no provider has this name; there are ${names}`);
    }
    // A repeat keeps who has set it first, and since when.
    if (state === (known.setState?.state ?? null)) return serviceStateOf(known);
    await changes.change((content) => withState(content, name, state && { state, by, since: now() }), { by })
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
  set: { readonly state: OperatedState; readonly by: string; readonly since: number } | null,
): StoredConfig {
  const { [name]: _before, ...others } = storedStatesIn(content);
  return { ...content, [PROVIDER_STATES_SECTION]: set === null ? others : { ...others, [name]: set } };
}
