import written from "./built_in.json" with { type: "json" };
import { providerPartOf } from "./catalog.ts";
import { type Model, readModel } from "./model.ts";

/**
 * The text models that need no configuration: those of the providers that are there. Each is served by the provider of
 * its own first part, as the environment's vendors are named.
 *
 * @param providers Names of the configured providers.
 */
export function builtInModels(providers: ReadonlySet<string>): Model[] {
  return written
    .map((model) => ({ ...model, serves: [{ provider: providerPartOf(model.id) }] }))
    .filter(({ serves: [{ provider }] }) => providers.has(provider))
    .map((model) => readModel(model));
}
