import type { Model } from "../catalog/model.ts";
import type { Provider } from "../upstreams/provider.ts";

/**
 * Loads a capability of the providers of some models.
 *
 * @param load Loads that of one provider; undefined if it lacks the capability.
 * @returns By the provider's id, with those of its credentials.
 */
export async function loadCapability<U>(
  models: readonly Model[],
  providers: ReadonlyMap<string, Provider>,
  load: (provider: Provider) => Promise<U> | undefined,
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
