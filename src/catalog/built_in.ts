import written from "./built_in.json" with { type: "json" };
import { providerPartOf } from "./catalog.ts";
import { type Model, readModel } from "./model.ts";

/**
 * The models that need no configuration: those of the providers that are there. Each is served by the provider of
 * its own first part, as the environment's vendors are named, and called there by its second part or by `vendor_name`.
 *
 * @param providers Names of the configured providers.
 */
export function builtInModels(providers: ReadonlySet<string>): Model[] {
  return written
    .map(({ vendor_name, ...model }) => ({
      ...model,
      serves: [{ provider: providerPartOf(model.id), model: vendor_name }],
    }))
    .filter(({ serves: [{ provider }] }) => providers.has(provider))
    .map((model) => readModel(model));
}
