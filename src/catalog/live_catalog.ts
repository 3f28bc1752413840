import type { Alias } from "./alias.ts";
import { type Catalog, createCatalog } from "./catalog.ts";
import type { Model } from "./model.ts";

/** A catalog whose discovered models can be replaced. Values returned before stay unchanged. */
export class LiveCatalog implements Catalog {
  #now: Catalog;

  /** Throws as {@linkcode createCatalog}. */
  constructor(readonly configured: readonly Model[], readonly aliases: readonly Alias[]) {
    this.#now = createCatalog(configured, { aliases });
  }

  /** Replaces the discovered models. */
  replaceDiscovered(discovered: readonly Model[]): void {
    const { configured, aliases } = this;
    this.#now = createCatalog(configured, { aliases, discovered, revision: this.#now.revision + 1 });
  }

  get models(): Catalog["models"] {
    return this.#now.models;
  }

  get providers(): Catalog["providers"] {
    return this.#now.providers;
  }

  get listedAliases(): Catalog["listedAliases"] {
    return this.#now.listedAliases;
  }

  get revision(): number {
    return this.#now.revision;
  }

  find(name: string): ReturnType<Catalog["find"]> {
    return this.#now.find(name);
  }

  named(name: string): ReturnType<Catalog["named"]> {
    return this.#now.named(name);
  }

  servedAs(provider: string, name: string): ReturnType<Catalog["servedAs"]> {
    return this.#now.servedAs(provider, name);
  }

  forProtocol(protocol: Parameters<Catalog["forProtocol"]>[0]): ReturnType<Catalog["forProtocol"]> {
    return this.#now.forProtocol(protocol);
  }
}
