import type { Model } from "./model.ts";

/** What vendors put behind a model's name to say which version answered. */
const VERSION_DATE = /-20\d{6}$/;

/** A protocol that callers speak, each with a catalog of its own. */
export type CatalogProtocol = "default" | "message" | "content";

/** The models on offer. Never changes once made, so it can be asked on every request without a copy. */
export interface Catalog {
  /** All of them, in the operator's order. */
  readonly models: readonly Model[];
  /** The first parts of all ids. */
  readonly providers: ReadonlySet<string>;
  /** The model of that id or canonical slug, or of that bare name when only one model has it; else null. */
  find(id: string): Model | null;
  /** The model that a provider serves under the vendor's own name, with or without a date behind it; else null. */
  servedAs(provider: string, name: string): Model | null;
  /** The models that a protocol can reach, in the operator's order. */
  forProtocol(protocol: CatalogProtocol): readonly Model[];
}

/**
 * Joins models into a catalog.
 *
 * @throws {RangeError} If two models share an id, or one's canonical slug is another's id or slug.
 */
export function createCatalog(models: readonly Model[]): Catalog {
  const byName = new Map<string, Model>();
  for (const model of models) {
    for (const name of new Set([model.id, model.canonicalSlug])) {
      if (byName.has(name)) throw new RangeError(`Cannot list two models under one name: got "${name}" twice`);
      byName.set(name, model);
    }
  }
  const byBareName = bareNamesOf(models);
  const byServing = servingsOf(models);
  const lists = {
    default: Object.freeze([...models]),
    message: Object.freeze(models.filter((model) => model.text)),
    content: Object.freeze(models.filter((model) => model.text || model.image?.series === "multimodal")),
  };
  return {
    models: lists.default,
    providers: new Set(models.map(({ id }) => providerPartOf(id))),
    find: (id) => byName.get(id) ?? byBareName.get(id) ?? null,
    servedAs(provider, name) {
      const served = byServing.get(provider);
      return served?.get(name) ?? served?.get(name.replace(VERSION_DATE, "")) ?? null;
    },
    forProtocol: (protocol) => lists[protocol],
  };
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

/** Bare names with their one model; a name that two models share is left out, as it would be a guess. */
function bareNamesOf(models: readonly Model[]): ReadonlyMap<string, Model> {
  const owners = new Map<string, Set<Model>>();
  for (const model of models) {
    for (const name of [model.id, model.canonicalSlug]) {
      const bareName = name.slice(name.indexOf("/") + 1);
      const sharing = owners.get(bareName) ?? new Set();
      owners.set(bareName, sharing.add(model));
    }
  }
  const single = [...owners].filter(([, sharing]) => sharing.size === 1);
  return new Map(single.map(([name, [model]]) => [name, model] as const));
}
