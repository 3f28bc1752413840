import written from "./built_in.json" with { type: "json" };
import { bareNameOf, createCatalog, providerPartOf } from "./catalog.ts";
import { type Model, readModel } from "./model.ts";
import { withoutVersionDate } from "./model_name.ts";

/** The built-in properties of a model: its fields as an operator would write them, without id and serves. */
export type BuiltInFields = Readonly<Record<string, unknown>>;

const byVendorName = new Map(
  written.map(({ id, vendor_name, ...facts }) => {
    const family = providerPartOf(id);
    return [`${family} ${vendor_name ?? bareNameOf(id)}`, facts as BuiltInFields] as const;
  }),
);

/**
 * The built-in properties of a model by its vendor's name, with or without a date suffix; null if it is not built in.
 *
 * @param family The first part of the vendor's built-in ids: `anthropic`.
 */
export function builtInFields(family: string, vendorName: string): BuiltInFields | null {
  return byVendorName.get(`${family} ${vendorName}`) ??
    byVendorName.get(`${family} ${withoutVersionDate(vendorName)}`) ?? null;
}

/**
 * The models that need no configuration, for the configured providers. Each is served by the provider with the name of
 * the id's first part, under the id's second part or `vendor_name`.
 *
 * @param providers Names of the configured providers.
 */
export function builtInModels(providers: ReadonlySet<string>): Model[] {
  return builtInEntries(providers).map((entry) => readModel(entry));
}

/**
 * A built-in model as its vendor serves it at a moment, by the vendor's name with or without a date suffix; null if it
 * is not built in.
 *
 * @param family The first part of the vendor's built-in ids: `anthropic`.
 * @param at Unix milliseconds.
 */
export function builtInModelAt(family: string, vendorName: string, at: number): Model | null {
  const models = builtInModels(new Set([family]));
  const indexOf = (name: string) => models.findIndex(({ serves }) => serves.some(({ model }) => model === name));
  const found = indexOf(vendorName);
  // By its place in the list, since a redirected model is served under another name.
  const index = found >= 0 ? found : indexOf(withoutVersionDate(vendorName));
  return createCatalog(models).at(at).models[index] ?? null;
}

/** The same models as an operator would write them in `models`. */
export function builtInEntries(providers: ReadonlySet<string>): Readonly<Record<string, unknown>>[] {
  return written
    .map(({ vendor_name, ...model }) => ({ model, provider: providerPartOf(model.id), vendorName: vendor_name }))
    .filter(({ provider }) => providers.has(provider))
    .map(({ model, provider, vendorName }) => ({
      ...model,
      serves: [{ provider, ...vendorName === undefined ? {} : { model: vendorName } }],
    }));
}
