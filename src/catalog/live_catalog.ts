import type { Alias } from "./alias.ts";
import { type Catalog, createCatalog, type DatedCatalog } from "./catalog.ts";
import { type CredentialWeights, withCredentials } from "./credentials.ts";
import { withListedFacts } from "./listed_facts.ts";
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
