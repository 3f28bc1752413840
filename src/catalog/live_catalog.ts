import type { Alias } from "./alias.ts";
import { type Catalog, createCatalog } from "./catalog.ts";
import { type CredentialWeights, withCredentials } from "./credentials.ts";
import type { Model } from "./model.ts";

/** Shows another catalog, which can be exchanged. Values returned before stay unchanged. */
export abstract class CatalogView implements Catalog {
  /** The catalog that is shown now. */
  abstract get shown(): Catalog;

  get models(): Catalog["models"] {
    return this.shown.models;
  }

  get providers(): Catalog["providers"] {
    return this.shown.providers;
  }

  get listedAliases(): Catalog["listedAliases"] {
    return this.shown.listedAliases;
  }

  get revision(): number {
    return this.shown.revision;
  }

  find(name: string): ReturnType<Catalog["find"]> {
    return this.shown.find(name);
  }

  named(name: string): ReturnType<Catalog["named"]> {
    return this.shown.named(name);
  }

  servedAs(provider: string, name: string): ReturnType<Catalog["servedAs"]> {
    return this.shown.servedAs(provider, name);
  }

  forProtocol(protocol: Parameters<Catalog["forProtocol"]>[0]): ReturnType<Catalog["forProtocol"]> {
    return this.shown.forProtocol(protocol);
  }
}

/** A catalog whose discovered models can be replaced. */
export class LiveCatalog extends CatalogView {
  #now: Catalog;
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
    super();
    this.configured = withCredentials(configured, credentials);
    this.#now = createCatalog(this.configured, { aliases });
  }

  override get shown(): Catalog {
    return this.#now;
  }

  /** Replaces the discovered models. */
  replaceDiscovered(discovered: readonly Model[]): void {
    const { configured, aliases, revision } = this;
    const models = withCredentials(discovered, this.credentials);
    this.#now = createCatalog(configured, { aliases, discovered: models, revision: revision + 1 });
  }
}

/** The catalog that a function gives at each use. */
export class CurrentCatalog extends CatalogView {
  /** @param current Gives the catalog. */
  constructor(readonly current: () => Catalog) {
    super();
  }

  override get shown(): Catalog {
    return this.current();
  }
}
