import type { Alias } from "./alias.ts";
import { type Catalog, createCatalog, type DatedCatalog } from "./catalog.ts";
import { type CredentialWeights, withCredentials } from "./credentials.ts";
import { listedFactsKey } from "../conversation/known_models.ts";
import type { ListedFacts } from "../conversation/model_facts.ts";
import type { Model } from "./model.ts";

/** A catalog whose discovered models can be replaced. */
export class LiveCatalog implements DatedCatalog {
  #now: DatedCatalog;
  #revision = 0;
  readonly configured: readonly Model[];

  /**
   * Throws as {@linkcode createCatalog}.
   *
   * @param credentials The named credentials of providers. Default: none.
   */
  constructor(
    configured: readonly Model[],
    readonly aliases: readonly Alias[],
    readonly credentials: CredentialWeights = new Map(),
  ) {
    this.configured = withCredentials(configured, credentials);
    this.#now = createCatalog(this.configured, { aliases });
  }

  /** The catalog for a moment. A catalog returned before stays unchanged. */
  at(momentMs: number): Catalog {
    return this.#now.at(momentMs);
  }

  /** Replaces the discovered models. */
  replaceDiscovered(discovered: readonly Model[]): void {
    const { configured, aliases } = this;
    const models = withCredentials(discovered, this.credentials);
    const listed = Object.assign({}, ...models.map(({ listedFacts }) => listedFacts));
    this.#now = createCatalog(withListedFacts(configured, listed), {
      aliases,
      discovered: models,
      revision: ++this.#revision,
    });
  }
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
