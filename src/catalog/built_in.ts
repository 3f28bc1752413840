import written from "./built_in.json" with { type: "json" };
import { bareNameOf, providerPartOf } from "./catalog.ts";
import { type Model, readModel } from "./model.ts";

/** What is built in of one model: its fields as an operator would write them, without id and serves. */
export type BuiltInFacts = Readonly<Record<string, unknown>>;

/** What vendors put behind a model's name to say which version it is: `-20260630`, `-2026-06-30`. */
const VERSION_DATE = /-20\d{2}-?\d{2}-?\d{2}$/;

const byVendorName = new Map(
  written.map(({ id, vendor_name, ...facts }) => {
    const family = providerPartOf(id);
    return [`${family} ${vendor_name ?? bareNameOf(id)}`, facts as BuiltInFacts] as const;
  }),
);

/**
 * What is built in of the model that a vendor calls by this name, with or without a date behind it; null when nothing
 * is.
 *
 * @param family The first part of the built-in ids of the vendor: `anthropic`.
 */
export function builtInFacts(family: string, vendorName: string): BuiltInFacts | null {
  return byVendorName.get(`${family} ${vendorName}`) ??
    byVendorName.get(`${family} ${vendorName.replace(VERSION_DATE, "")}`) ?? null;
}

/**
 * The models that need no configuration: those of the providers that are there. Each is served by the provider of
 * its own first part, as the environment's vendors are named, and called there by its second part or by `vendor_name`.
 *
 * @param providers Names of the configured providers.
 */
export function builtInModels(providers: ReadonlySet<string>): Model[] {
  return written
    .map(({ vendor_name, ...model }) => ({ model, provider: providerPartOf(model.id), vendorName: vendor_name }))
    .filter(({ provider }) => providers.has(provider))
    .map(({ model, provider, vendorName }) => readModel({ ...model, serves: [{ provider, model: vendorName }] }));
}
