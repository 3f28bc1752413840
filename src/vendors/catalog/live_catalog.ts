import type { Alias } from "./alias.ts";
import { type Catalog, createCatalog, type DatedCatalog } from "./catalog.ts";
import { PLAIN_PROVIDERS, type ServingProviders, withProviders } from "./serving_providers.ts";
import { listedFactsKey } from "../../conversation/models/known_models.ts";
import type { ListedFacts } from "../../conversation/facts/model_facts.ts";
import { type ListedStep, NOTHING_LISTED } from "./listed_step.ts";
import type { Model } from "./model.ts";

/** The catalog from a moment on. */
interface CatalogStep {
  /** Unix milliseconds. */
  readonly from: number;
  readonly catalog: DatedCatalog;
}

/** A catalog whose listed models, and the prices of built-in ones, can be replaced. */
export class LiveCatalog implements DatedCatalog {
  /** In the order of their moments; the first one begins before all. */
  #steps: readonly [CatalogStep, ...CatalogStep[]];
  #revision = 0;
  readonly configured: readonly Model[];

  /**
   * Throws as {@linkcode createCatalog}.
   *
   * @param providers What their configuration adds to models. Default: nothing.
   */
  constructor(
    configured: readonly Model[],
    readonly aliases: readonly Alias[],
    readonly providers: ServingProviders = PLAIN_PROVIDERS,
  ) {
    this.configured = withProviders(configured, providers);
    this.#steps = [{ from: -Infinity, catalog: createCatalog(this.configured, { aliases }) }];
  }

  /** The catalog for a moment. A catalog returned before stays unchanged. */
  at(momentMs: number): Catalog {
    const [first, ...others] = this.#steps;
    if (others.length === 0) return first.catalog.at(momentMs);
    return (others.findLast(({ from }) => from <= momentMs) ?? first).catalog.at(momentMs);
  }

  /** Replaces the discovered models and the prices of built-in ones, by the moments from which they hold. */
  replaceListed(steps: readonly ListedStep[]): void {
    const [first = NOTHING_LISTED, ...others] = steps;
    const stepOf = (step: ListedStep): CatalogStep => ({ from: step.from, catalog: this.#catalogOf(step) });
    this.#steps = [stepOf(first), ...others.map(stepOf)];
  }

  #catalogOf({ discovered, repriced }: ListedStep): DatedCatalog {
    const { aliases, providers } = this;
    const prices = new Map(withProviders(repriced, providers).map((model) => [model.id, model]));
    const dates = new Map(discovered.map(({ id, expirationDate }) => [id, expirationDate]));
    const models = withProviders(discovered, providers);
    const facts = Object.assign({}, ...models.map(({ listedFacts }) => listedFacts));
    const priced = this.configured.map((model) => withDate(prices.get(model.id) ?? model, dates));
    return createCatalog(withListedFacts(priced, facts), { aliases, discovered: models, revision: ++this.#revision });
  }
}

/** A configured model with the date on which its vendor's list ends it, unless it has one. */
function withDate(model: Model, dates: ReadonlyMap<string, string | null>): Model {
  const expirationDate = dates.get(model.id) ?? null;
  return model.expirationDate !== null || expirationDate === null ? model : { ...model, expirationDate };
}

/** Models with the facts that lists state about them. A model without any stays the same object. */
export function withListedFacts(models: readonly Model[], listed: ListedFacts): readonly Model[] {
  if (Object.keys(listed).length === 0) return models;
  return models.map((model) => {
    const keys = model.serves.map((serving) => listedFactsKey(serving.provider, serving.model))
      .filter((key) => Object.hasOwn(listed, key));
    return keys.length === 0
      ? model
      : { ...model, listedFacts: Object.fromEntries(keys.map((key) => [key, listed[key] ?? {}])) };
  });
}
