import type { Alias } from "./alias.ts";
import { AliasPatterns } from "./alias_patterns.ts";
import { MAX_NAME_LENGTH, type Model } from "./model.ts";

/** What vendors put behind a model's name to say which version answered. */
const VERSION_DATE = /-20\d{6}$/;

/** A protocol that callers speak, each with a catalog of its own. */
export type CatalogProtocol = "default" | "message" | "content";

/** What a caller's name of a model means. */
export interface NamedModel {
  readonly model: Model;
  /** Tried in order when all providers of the model failed; the alias' own list, else the model's. Often empty. */
  readonly fallbacks: readonly Model[];
  /** Whether the name is an alias, so that catalogs show the model under that name. */
  readonly isAlias: boolean;
}

/** An alias that the public catalogs list, and its model. */
export interface ListedAlias {
  readonly name: string;
  readonly model: Model;
}

/** The models on offer, without a copy for each request. */
export interface Catalog {
  /** All of them, in the operator's order. */
  readonly models: readonly Model[];
  /** The first parts of all ids. */
  readonly providers: ReadonlySet<string>;
  /** Aliases that are listed, in the operator's order. */
  readonly listedAliases: readonly ListedAlias[];
  /** Another number whenever any of the above is another. */
  readonly revision: number;
  /** The model of {@linkcode Catalog.named}. */
  find(name: string): Model | null;
  /**
   * What a name means: an id or canonical slug; else an alias; else a bare name (an id without its first part) that
   * only one model has; else an alias with a `*`, the longest first. Null when it means nothing.
   */
  named(name: string): NamedModel | null;
  /** The model that a provider serves under the vendor's own name, with or without a date behind it; else null. */
  servedAs(provider: string, name: string): Model | null;
  /** The models that a protocol can reach, in the operator's order. */
  forProtocol(protocol: CatalogProtocol): readonly Model[];
}

/** What a catalog holds beside the configured models. */
export interface CatalogExtras {
  /** Default: none. */
  readonly aliases?: readonly Alias[];
  /** Models that providers list; one whose id or slug is taken is left out. Default: none. */
  readonly discovered?: readonly Model[];
  /** Default: 0. */
  readonly revision?: number;
}

/**
 * Joins models into a catalog that never changes.
 *
 * @throws {RangeError} If two configured models share an id, or one's canonical slug is another's id or slug.
 */
export function createCatalog(configured: readonly Model[], extras: CatalogExtras = {}): Catalog {
  const { aliases = [], discovered = [], revision = 0 } = extras;
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
    content: Object.freeze(models.filter((model) => model.text || model.image?.series === "multimodal")),
  };

  /** The model that a configured name leads to, through aliases without a `*`. */
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
      return served?.get(name) ?? served?.get(name.replace(VERSION_DATE, "")) ?? null;
    },
    forProtocol: (protocol) => lists[protocol],
  };
}

const NO_MODELS: readonly Model[] = [];

/** What the operator wrote goes before what a vendor lists. */
function addDiscovered(
  byName: Map<string, Model>,
  aliases: ReadonlyMap<string, unknown>,
  model: Model,
): boolean {
  if (byName.has(model.id) || aliases.has(model.id)) return false;
  byName.set(model.id, model);
  return true;
}

/** By provider and by the vendor's name; the first of two models that share one holds. */
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
 * Bare names with their one model; a name that two models share is left out, as it would be a guess. No vendor's list
 * takes a bare name from a configured model.
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
