import type { ProviderHalt } from "../../platform/names/provider_halt.ts";
import { providerIdOf } from "../../platform/names/provider_name.ts";
import type { Model, Serving } from "./model.ts";

/** The weights of the named credentials, by the names of provider and credential. */
export type CredentialWeights = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** What the configuration of the providers adds to the models that they serve. */
export interface ServingProviders {
  readonly credentials: CredentialWeights;
  /** Providers that get no new requests, by name. */
  readonly halts: ReadonlyMap<string, ProviderHalt>;
}

/** Providers of which nothing is known. */
export const PLAIN_PROVIDERS: ServingProviders = { credentials: new Map(), halts: new Map() };

/** Adds the credentials and halts of providers to the models that they serve. */
export function withProviders(models: readonly Model[], providers: ServingProviders): readonly Model[] {
  const { credentials, halts } = providers;
  if (credentials.size === 0 && halts.size === 0) return models;
  return models.map((model) => {
    if (!model.serves.some(({ provider }) => credentials.has(provider) || halts.has(provider))) return model;
    return { ...model, serves: model.serves.map((serving) => servingWith(serving, providers)) };
  });
}

function servingWith(serving: Serving, { credentials, halts }: ServingProviders): Serving {
  const { provider, model } = serving;
  const weights = credentials.get(provider);
  const halt = halts.get(provider);
  const halted = halt === undefined ? {} : { halt };
  if (weights === undefined) return { ...serving, ...halted };
  const each = [...weights].map(([name, weight]) => ({
    provider: providerIdOf(provider, name),
    model,
    weight,
    ...halted,
  }));
  return { ...serving, ...halted, credentials: each };
}
