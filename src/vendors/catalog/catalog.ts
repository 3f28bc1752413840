import type { Alias } from "./alias.ts";
import { AliasPatterns } from "./alias_patterns.ts";
import type { Model } from "./model.ts";
import { heldHoursOf, pricedAt, redirectedAt, timesOf } from "./model_at.ts";
import { nextMinute } from "./prices/price_conditions.ts";
import { MAX_NAME_LENGTH, withoutVersionDate } from "./model_name.ts";

/** The caller protocols, each with its own catalog. */
export type CatalogProtocol = "default" | "message" | "content";

/** The model that a caller's name resolves to. */
export interface NamedModel {
  readonly model: Model;
  /** Tried in order if all providers of the model failed: the alias's own list, else the model's. Often empty. */
  readonly fallbacks: readonly Model[];
  /** Whether the name is an alias; catalogs then show the model under that name. */
  readonly isAlias: boolean;
}

/** An alias in the public catalogs, and its model. */
export interface ListedAlias {
  readonly name: string;
  readonly model: Model;
}

/** A catalog whose prices change with time. It is read for a moment, so that a request keeps its prices. */
export interface DatedCatalog {
  /**
   * The catalog for requests that began at a moment. The same object for all moments between two changes.
   *
   * @param momentMs Unix milliseconds.
   */
  at(momentMs: number): Catalog;
}

/** The available models with the prices of one moment, shared by the requests that began then. */
export interface Catalog {
  /** All models in the operator's order. */
  readonly models: readonly Model[];
  /** The first parts of all ids. */
  readonly providers: ReadonlySet<string>;
  /** Listed aliases in the operator's order. */
  readonly listedAliases: readonly ListedAlias[];
  /** Changes whenever any of the above changes. */
  readonly revision: number;
  /** The model of {@linkcode Catalog.named}. */
  find(name: string): Model | null;
  /**
   * Resolves a name: an id or canonical slug; else an alias; else a bare name (an id without its first part) that is
   * unique; else an alias with a `*`, longest first. Null if nothing matches.
   */
  named(name: string): NamedModel | null;
  /**
   * The model that a provider serves under the vendor's name, with or without a date suffix; null if there is none.
   */
  servedAs(provider: string, name: string): Model | null;
  /** The models that a protocol can use, in the operator's order. */
  forProtocol(protocol: CatalogProtocol): readonly Model[];
}

/** Optional parts of a catalog. */
export interface CatalogExtras {
  /** Default: none. */
  readonly aliases?: readonly Alias[];
  /** Models that providers list. A model whose id or slug is in use is left out. Default: none. */
  readonly discovered?: readonly Model[];
  /** Default: 0. */
  readonly revision?: number;
}

/**
 * Creates an immutable catalog. Its own models have the prices before the first change; `at` has those of a moment.
 *
 * @throws {RangeError} If two configured models share an id, or one's canonical slug is another's id or slug.
 */
export function createCatalog(configured: readonly Model[], extras: CatalogExtras = {}): Catalog & DatedCatalog {
  const { discovered = [] } = extras;
  const { moments, areRecurring } = timesOf([...configured, ...discovered]);
  const first = catalogOf(configured, extras);
  const made = new Map<string, Catalog>();
  // The last answer, with the moments for which it is right: almost always the next ones, too.
  let last: { readonly from: number; readonly to: number; readonly catalog: Catalog } | null = null;

  function catalogAt(momentMs: number): Catalog {
    const next = moments.findIndex((from) => from > momentMs);
    const due = next < 0 ? moments.at(-1) : moments[next - 1];
    const end = next < 0 ? Infinity : moments[next] ?? Infinity;
    if (!areRecurring) {
      const catalog = due === undefined ? first : named(String(due), due);
      last = { from: due ?? -Infinity, to: end, catalog };
      return catalog;
    }
    const held = heldHoursOf([...configured, ...discovered], momentMs);
    const catalog = due === undefined && held === "" ? first : named(`${due} ${held}`, momentMs);
    last = { from: momentMs, to: Math.min(end, nextMinute(momentMs)), catalog };
    return catalog;
  }

  function named(key: string, momentMs: number): Catalog {
    let catalog = made.get(key);
    if (catalog !== undefined) return catalog;
    // What is past is not asked for again.
    for (const oldest of made.keys()) {
      if (made.size < MAX_CATALOGS) break;
      made.delete(oldest);
    }
    made.set(key, catalog = catalogOf(configured, extras, momentMs));
    return catalog;
  }

  return {
    ...first,
    at(momentMs) {
      if (last !== null && momentMs >= last.from && momentMs < last.to) return last.catalog;
      return catalogAt(momentMs);
    },
  };
}

/** The catalogs of different moments that are kept. Requests that are under way keep theirs. */
const MAX_CATALOGS = 16;

/** The catalog of one moment. */
function catalogOf(
  undated: readonly Model[],
  { aliases = [], discovered: undatedFound = [], revision = 0 }: CatalogExtras,
  momentMs = -Infinity,
): Catalog {
  const { configured, discovered } = modelsAt(undated, undatedFound, momentMs);
  const byName = new Map<string, Model>();
  for (const model of configured) {
    for (const name of new Set([model.id, model.canonicalSlug])) {
      if (byName.has(name)) throw new RangeError(`Cannot list two models under one name: got "${name}" twice`);
      byName.set(name, model);
    }
  }
  const exactAliases = new Map(aliases.filter(({ name }) => !name.includes("*")).map((alias) => [alias.name, alias]));
  const found = discovered.filter((model) => addDiscovered(byName, exactAliases, model));
  const models = [...configured, ...found];
  const byBareName = bareNamesOf(configured, found);
  const patterns = new AliasPatterns(aliases);
  const byServing = servingsOf(models);
  const lists = {
    default: Object.freeze(models),
    message: Object.freeze(models.filter((model) => model.text)),
    content: Object.freeze(
      models.filter((model) => model.text || model.image?.series === "multimodal" || model.embedding !== undefined),
    ),
  };

  /** The model of a configured name, through aliases without a `*`. */
  function modelAt(name: string, seen: readonly string[] = []): Model | null {
    const model = byName.get(name);
    if (model !== undefined) return model;
    const alias = exactAliases.get(name);
    if (alias !== undefined) return seen.includes(name) ? null : modelAt(alias.model, [...seen, name]);
    return byBareName.get(name) ?? null;
  }

  function namedBy(alias: Alias | null, model: Model): NamedModel {
    const names = alias?.fallbacks ?? model.fallbacks;
    if (names.length === 0) return { model, fallbacks: NO_MODELS, isAlias: alias !== null };
    const others = names.map((name) => modelAt(name)).filter((each) => each !== null && each !== model);
    return { model, fallbacks: [...new Set(others as Model[])], isAlias: alias !== null };
  }

  function named(name: string): NamedModel | null {
    if (name.length > MAX_NAME_LENGTH) return null;
    const alias = byName.has(name) ? null : exactAliases.get(name) ?? null;
    const model = modelAt(name);
    if (model !== null || alias !== null) return model && namedBy(alias, model);
    for (const { alias, targets } of patterns.matches(name)) {
      for (const target of targets) {
        const model = modelAt(target);
        if (model !== null) return namedBy(alias, model);
      }
    }
    return null;
  }

  return {
    models: lists.default,
    providers: new Set(models.map(({ id }) => providerPartOf(id))),
    listedAliases: aliases.filter(({ isListed }) => isListed).flatMap(({ name }) => {
      const model = modelAt(name);
      return model === null ? [] : [{ name, model }];
    }),
    revision,
    find: (name) => named(name)?.model ?? null,
    named,
    servedAs(provider, name) {
      const served = byServing.get(provider);
      return served?.get(name) ?? served?.get(withoutVersionDate(name)) ?? null;
    },
    forProtocol: (protocol) => lists[protocol],
  };
}

const NO_MODELS: readonly Model[] = [];

/** The models of one moment: priced first, so that a redirect leads to the price of that moment. */
function modelsAt(configured: readonly Model[], discovered: readonly Model[], momentMs: number) {
  const priced = [configured, discovered].map((models) => models.map((model) => pricedAt(model, momentMs)));
  const byServing = servingsOf(priced.flat());
  const servedAs = (provider: string, name: string) => byServing.get(provider)?.get(name) ?? null;
  const [own = [], found = []] = priced.map((models) => models.map((model) => redirectedAt(model, momentMs, servedAs)));
  return { configured: own, discovered: found };
}

/** Configured models take precedence over listed ones. */
function addDiscovered(
  byName: Map<string, Model>,
  aliases: ReadonlyMap<string, unknown>,
  model: Model,
): boolean {
  if (byName.has(model.id) || aliases.has(model.id)) return false;
  byName.set(model.id, model);
  return true;
}

/** By provider and vendor name; the first of two models with the same name is used. */
function servingsOf(models: readonly Model[]): ReadonlyMap<string, ReadonlyMap<string, Model>> {
  const byProvider = new Map<string, Map<string, Model>>();
  for (const model of models) {
    for (const { provider, model: name } of model.serves) {
      const served = byProvider.get(provider) ?? new Map<string, Model>();
      if (!served.has(name)) served.set(name, model);
      byProvider.set(provider, served);
    }
  }
  return byProvider;
}

/** The first part of a catalog id: `openai` of `openai/gpt-6-sol`. */
export function providerPartOf(id: string): string {
  return id.slice(0, id.indexOf("/"));
}

/** A catalog id without its first part: `meta-llama/llama-4` of `openrouter/meta-llama/llama-4`. */
export function bareNameOf(id: string): string {
  return id.slice(id.indexOf("/") + 1);
}

/**
 * Unique bare names with their models. A name that two models share is left out. A listed model never replaces a
 * configured one.
 */
function bareNamesOf(configured: readonly Model[], discovered: readonly Model[]): ReadonlyMap<string, Model> {
  const chosen = ownersOf(configured);
  const found = ownersOf(discovered);
  const single = new Map<string, Model>();
  for (const [name, owners] of [...chosen, ...[...found].filter(([name]) => !chosen.has(name))]) {
    const [model, ...others] = owners;
    if (model !== undefined && others.length === 0) single.set(name, model);
  }
  return single;
}

function ownersOf(models: readonly Model[]): ReadonlyMap<string, ReadonlySet<Model>> {
  const owners = new Map<string, Set<Model>>();
  for (const model of models) {
    for (const name of [model.id, model.canonicalSlug]) {
      const bareName = bareNameOf(name);
      const sharing = owners.get(bareName) ?? new Set();
      owners.set(bareName, sharing.add(model));
    }
  }
  return owners;
}
