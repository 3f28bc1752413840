import {
  type CallerLimits,
  modelDenied,
  permitsEveryModel,
  permitsModel,
  permitsProvider,
  providersDenied,
} from "../../money/limits/permission.ts";
import type { Catalog, CatalogProtocol, ListedAlias, NamedModel } from "./catalog.ts";
import { providerPartOf } from "./catalog.ts";
import type { Model } from "./model.ts";

/** The last view for some limits. A later revision of the catalog replaces it. */
interface CachedView {
  readonly catalog: Catalog;
  readonly revision: number;
  readonly view: Catalog;
}

/** By the limits of the key. A cached key has the same ones for its requests. */
const views = new WeakMap<CallerLimits, CachedView>();

/**
 * The part of the catalog that a caller may use: models that the limits do not permit are missing, and so are the
 * providers of the others that may not serve them. Names are resolved first, so no alias leads around the limits.
 * `named` and `find` throw for a model that exists and is not permitted; a fallback that is not permitted is left out.
 *
 * @param limits Null for a caller without limits, who gets the catalog itself.
 */
export function permittedCatalog(catalog: Catalog, limits: CallerLimits | null): Catalog {
  if (limits === null || permitsEveryModel(limits)) return catalog;
  const cached = views.get(limits);
  if (cached?.catalog === catalog && cached.revision === catalog.revision) return cached.view;
  const view = new PermittedCatalog(catalog, limits);
  views.set(limits, { catalog, revision: view.revision, view });
  return view;
}

class PermittedCatalog implements Catalog {
  readonly revision: number;
  /** Each model with its permitted providers, so that a model is always the same object; null if it has none. */
  readonly #permitted = new Map<Model, Model | null>();

  constructor(private readonly catalog: Catalog, private readonly limits: CallerLimits) {
    this.revision = catalog.revision;
  }

  get models(): readonly Model[] {
    return this.#among(this.catalog.models);
  }

  get providers(): ReadonlySet<string> {
    return new Set(this.models.map(({ id }) => providerPartOf(id)));
  }

  get listedAliases(): readonly ListedAlias[] {
    return this.catalog.listedAliases.flatMap(({ name, model }) => {
      const permitted = this.#permittedOf(model);
      return permitted === null ? [] : [{ name, model: permitted }];
    });
  }

  find(name: string): Model | null {
    return this.named(name)?.model ?? null;
  }

  named(name: string): NamedModel | null {
    const named = this.catalog.named(name);
    if (named === null) return null;
    const model = this.#permittedOf(named.model);
    if (model === null) throw this.#refusalOf(named.model);
    return { ...named, model, fallbacks: this.#among(named.fallbacks) };
  }

  servedAs(provider: string, name: string): Model | null {
    return this.catalog.servedAs(provider, name);
  }

  forProtocol(protocol: CatalogProtocol): readonly Model[] {
    return this.#among(this.catalog.forProtocol(protocol));
  }

  #among(models: readonly Model[]): readonly Model[] {
    return models.map((model) => this.#permittedOf(model)).filter((model) => model !== null);
  }

  #permittedOf(model: Model): Model | null {
    let permitted = this.#permitted.get(model);
    if (permitted === undefined) this.#permitted.set(model, permitted = this.#restricted(model));
    return permitted;
  }

  #restricted(model: Model): Model | null {
    if (!permitsModel(this.limits, model, this.#find)) return null;
    const serves = model.serves.filter(({ provider }) => permitsProvider(this.limits, provider));
    if (serves.length === model.serves.length) return model;
    return serves.length === 0 ? null : { ...model, serves };
  }

  #refusalOf(model: Model): Error {
    return permitsModel(this.limits, model, this.#find)
      ? providersDenied(this.limits, model)
      : modelDenied(this.limits, model, this.#find);
  }

  readonly #find = (name: string): Model | null => this.catalog.find(name);
}
