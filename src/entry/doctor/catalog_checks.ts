import { counted } from "../../platform/lib/text/counted.ts";
import { builtInFields, builtInModelAt } from "../../vendors/catalog/built_in.ts";
import { createCatalog } from "../../vendors/catalog/catalog.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import { isNamedBy } from "../../vendors/catalog/model_pattern.ts";
import { sourcedKey } from "../../vendors/catalog/sourced_model.ts";
import type { Pricing } from "../../vendors/catalog/prices/price_list.ts";
import type { Config } from "../../config/config.ts";
import { builtInFamilyOf } from "../../config/environment.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";
import { enumerated, type Finding, ok, warning } from "./finding.ts";

/** The names of a provider's models in the vendor's list. */
export type ListedNames = ReadonlyMap<string, ReadonlySet<string>>;

const VERSION_SUFFIX = /^-(?:20\d{2}-?\d{2}-?\d{2}|latest|\d{3})$/;

/**
 * Checks that vendors still list the configured text models. Vendors' lists have only those.
 *
 * @param listed By provider; absent for a provider without a list.
 */
export function checkListedModels(models: readonly Model[], listed: ListedNames): Finding {
  const missing = models.filter(({ architecture }) => architecture.outputModalities.includes("text"))
    .flatMap(({ id, serves }) =>
      serves.filter(({ provider, model }) => {
        const names = listed.get(provider);
        return names !== undefined && names.size > 0 && !isListed(model, names);
      }).map(({ provider, model }) => `${id} (${model} at ${provider})`)
    );
  if (listed.size === 0) return ok("models", "no provider has a list of models to compare with");
  if (missing.length === 0) {
    return ok("models", `${counted(listed.size, "provider")} ${listed.size === 1 ? "lists" : "list"} all models`);
  }
  return warning(
    "models",
    `vendors no longer list ${enumerated(missing)}`,
    "the vendor may have ended these models: change their entries in models, or remove them",
  );
}

/** A name without its date counts as listed if the list has it with one, and the other way round. */
function isListed(name: string, names: ReadonlySet<string>): boolean {
  if (names.has(name)) return true;
  for (const other of names) {
    if (other.startsWith(name) && VERSION_SUFFIX.test(other.slice(name.length))) return true;
    if (name.startsWith(other) && VERSION_SUFFIX.test(name.slice(other.length))) return true;
  }
  return false;
}

/**
 * Checks that configured prices are those that are built in for the same model of the vendor, both as they are at a
 * moment.
 *
 * @param at Unix milliseconds.
 */
export function checkPrices({ models, providers }: Pick<Config, "models" | "providers">, at: number): Finding {
  let compared = 0;
  const different: string[] = [];
  const now = createCatalog(models).at(at).models;
  for (const [index, { id, serves }] of models.entries()) {
    const builtIn = builtInPricesOf(serves, providers, at);
    if (builtIn === undefined) continue;
    compared++;
    for (const [key, price] of Object.entries(now[index]?.pricing ?? {}) as [keyof Pricing, string | undefined][]) {
      const own = builtIn[key];
      if (own !== undefined && price !== undefined && Number(price) !== Number(own)) {
        different.push(`${id} ${key} ${price}, built in ${own}`);
      }
    }
  }
  if (compared === 0) return ok("prices", "no configured model has built-in prices to compare with");
  if (different.length === 0) return ok("prices", `the prices of ${compared} models are the built-in ones`);
  return warning(
    "prices",
    `prices differ from the built-in ones: ${enumerated(different)}`,
    "this is fine if you set them on purpose; otherwise correct models[].pricing",
  );
}

/** The built-in prices of the first provider that serves a built-in model; undefined if none does. */
function builtInPricesOf(
  serves: Model["serves"],
  providers: Config["providers"],
  at: number,
): Pricing | undefined {
  for (const { provider, model } of serves) {
    const settings = ownValue(providers, provider);
    const family = settings === undefined ? null : builtInFamilyOf(provider, settings);
    const builtIn = family === null ? null : builtInModelAt(family, model, at);
    if (builtIn !== null) return builtIn.pricing;
  }
}

/**
 * Names the models of vendors' lists that an entry with a star leaves out, because they have no price.
 *
 * @param listed By provider; absent for a provider without a list.
 * @param sourced The models with a price of the price source, by `sourcedKey`.
 */
export function checkUnpricedModels(
  { modelPatterns, providers }: Pick<Config, "modelPatterns" | "providers">,
  listed: ListedNames,
  sourced: ReadonlySet<string> = new Set(),
): Finding {
  const unpriced = modelPatterns.filter(({ servesUnpriced }) => !servesUnpriced).flatMap((pattern) => {
    const { id, provider } = pattern;
    const settings = ownValue(providers, provider);
    const family = settings === undefined ? null : builtInFamilyOf(provider, settings);
    const names = [...listed.get(provider) ?? []].filter((name) => isNamedBy(pattern, name));
    const hasPrice = (name: string) =>
      family !== null && (builtInFields(family, name) !== null || sourced.has(sourcedKey(family, name)));
    return names.filter((name) => !hasPrice(name)).map((name) => `${name} (${id})`);
  });
  if (modelPatterns.length === 0) return ok("unpriced", "no entry of models has a star, and no provider has discover");
  if (unpriced.length === 0) return ok("unpriced", "every listed model that may be served has a price");
  return warning(
    "unpriced",
    `offered by the vendor, but not served, as they have no price: ${enumerated(unpriced)}`,
    "give the entry with the star pricing, or pricing: free, add an entry for the model, or set prices.source",
  );
}
