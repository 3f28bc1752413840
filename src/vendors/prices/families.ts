import { importsOf } from "../upstreams/vendor.ts";
import { BUILT_IN_VENDORS, VENDORS } from "../upstreams/vendors.ts";

/** The vendors of built-in models by their names in a list of prices. */
type Families = Readonly<Record<string, string>>;

/** Lists have prices of text only for these. */
const TEXT_VENDORS = BUILT_IN_VENDORS.filter((name) => VENDORS[name].uses?.includes("text") ?? true);

/** By their names in LiteLLM. Source: `model_prices_and_context_window.json`, `litellm_provider`. */
export const LITELLM_FAMILIES: Families = familiesBy((name) => Object.keys(importsOf(name, VENDORS[name])));

/** By their ids at models.dev. Source: models.dev, `api.json`. */
export const MODELS_DEV_FAMILIES: Families = familiesBy((name) => [name]);

/** By the first part of their models' ids at OpenRouter, whose prices are those of the vendors. */
export const OPENROUTER_FAMILIES: Families = familiesBy((name) => {
  const { openrouterName = name } = VENDORS[name];
  return openrouterName === null ? [] : [openrouterName];
});

function familiesBy(namesOf: (name: typeof BUILT_IN_VENDORS[number]) => readonly string[]): Families {
  return Object.fromEntries(TEXT_VENDORS.flatMap((name) => namesOf(name).map((each) => [each, name])));
}
