import type { CarriedProvider } from "./bifrost_provider.ts";
import { type ImportedConfig, modelIdOf, type Written } from "./imported_config.ts";
import { listIn, mapIn, type SourceMap, textIn, textsIn } from "../../../vendors/prices/source_values.ts";

/** What the access of a virtual key is read with. */
export interface AccessContext {
  readonly config: ImportedConfig;
  /** The carried providers by their names in the source. */
  readonly providers: ReadonlyMap<string, CarriedProvider>;
  /** `governance.budgets`. */
  readonly budgets: readonly SourceMap[];
  /** Whether an empty list stands for all. */
  readonly emptyAllowsAll: boolean;
}

/** What a virtual key may use of one provider. */
interface Grant {
  readonly providers: Iterable<string>;
  /** Ids and patterns. */
  readonly models: readonly string[];
}

/**
 * The fields `providers` and `models` of a virtual key; null if it may use nothing that is carried. What cannot be
 * stated as narrowly as in the source is left out of them, and is in the report.
 */
export function accessOf(context: AccessContext, entry: SourceMap, place: string): Record<string, Written> | null {
  const configs = listIn(entry.provider_configs).map(mapIn);
  const listed = new Set(configs.map((each) => textIn(each.provider)));
  const isOpen = entry.allow_all_providers === true || (configs.length === 0 && context.emptyAllowsAll);
  const others = isOpen ? [...context.providers].filter(([name]) => !listed.has(name)) : [];
  const grants = [
    ...configs.map((each, index) => grantOf(context, each, `${place}.provider_configs[${index}]`)),
    ...others.map(([, { providers, prefix }]): Grant => ({ providers, models: [`${prefix}/*`] })),
  ];
  const providers = [...new Set(grants.flatMap((grant) => [...grant.providers]))];
  const models = [...new Set(grants.flatMap((grant) => grant.models))];
  if (providers.length === 0 || models.length === 0) return null;
  return { ...(models.some((model) => !model.endsWith("/*")) && { models }), providers };
}

const LIMITS = ["rate_limit_id", "rate_limit", "budget_id", "budget", "budgets"];

function grantOf(
  { config, providers, budgets, emptyAllowsAll }: AccessContext,
  entry: SourceMap,
  place: string,
): Grant {
  const deny = (why: string): Grant => {
    config.drop(place, `${why}; the key may not use this provider`);
    return { providers: [], models: [] };
  };
  const carried = providers.get(textIn(entry.provider) ?? "");
  if (carried === undefined) return deny("its provider is not carried");
  const isLimited = LIMITS.some((field) => entry[field] !== undefined) ||
    (entry.id !== undefined && budgets.some((budget) => budget.provider_config_id === entry.id));
  if (isLimited) return deny("limits of one provider have no counterpart");
  const usable = usableProviders(carried, textsIn(entry.key_ids ?? entry.allowed_keys), emptyAllowsAll);
  if (typeof usable === "string") return deny(usable);
  const models = allowedModels(carried, entry, emptyAllowsAll);
  return typeof models === "string" ? deny(models) : { providers: usable, models };
}

/** The providers of the keys that may be used, if no other key has them, too. A text says why there are none. */
function usableProviders(
  { keys, providers }: CarriedProvider,
  ids: readonly string[],
  emptyAllowsAll: boolean,
): Iterable<string> | string {
  if (ids.includes("*") || (ids.length === 0 && emptyAllowsAll)) return providers;
  if (ids.length === 0) return "its key_ids is empty, which allows none";
  const isAllowed = (names: readonly string[]) => names.some((name) => ids.includes(name));
  const others = new Set(keys.filter(({ names }) => !isAllowed(names)).flatMap((key) => [...key.providers]));
  const own = keys.filter(({ names }) => isAllowed(names)).flatMap((key) => [...key.providers])
    .filter((provider) => !others.has(provider));
  return own.length === 0 ? "its key_ids are not all keys of the provider" : own;
}

/** A model by its name, or by a regular expression of its whole name. */
type Matcher = (name: string) => boolean;

const EXPRESSION = /^regex:/;

/** Null for an expression that cannot be read. Source: Bifrost, "Virtual Keys", "How access is resolved". */
function matcherOf(pattern: string): Matcher | null {
  if (pattern === "*") return () => true;
  if (!EXPRESSION.test(pattern)) return (name) => name === pattern;
  try {
    const expression = new RegExp(`^(?:${pattern.replace(EXPRESSION, "")})$`, "i");
    return (name) => expression.test(name);
  } catch {
    return null;
  }
}

/** The ids that a virtual key may use of a provider, or a pattern. A text says why there are none. */
function allowedModels(
  { prefix, models, hasPattern }: CarriedProvider,
  entry: SourceMap,
  emptyAllowsAll: boolean,
): readonly string[] | string {
  const written = textsIn(entry.allowed_models);
  const allowed = written.length === 0 && emptyAllowsAll ? ["*"] : written;
  const blocked = textsIn(entry.blacklisted_models);
  if (allowed.length === 0) return "its allowed_models is empty, which allows none";
  if (allowed.includes("*") && blocked.length === 0) return [`${prefix}/*`];
  const isOpen = allowed.includes("*") || allowed.some((each) => EXPRESSION.test(each));
  if (isOpen && hasPattern) {
    return "blacklisted_models and expressions have no counterpart at a provider with all of its models";
  }
  const [allow, block] = [allowed.map(matcherOf), blocked.map(matcherOf)];
  if (block.includes(null)) return "an expression in its blacklisted_models cannot be read";
  const names = hasPattern ? allowed : [...models].filter((name) => allow.some((matches) => matches?.(name)));
  const usable = names.filter((name) => !block.some((matches) => matches?.(name)));
  return usable.length === 0
    ? "none of its allowed_models is carried"
    : usable.map((name) => modelIdOf(`${prefix}/${name}`));
}
