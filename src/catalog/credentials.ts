import { providerIdOf } from "../lib/provider_name.ts";
import type { Model, Serving } from "./model.ts";

/** The weights of the named credentials, by the names of provider and credential. */
export type CredentialWeights = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Adds the credentials of providers to the models that they serve. */
export function withCredentials(models: readonly Model[], credentials: CredentialWeights): readonly Model[] {
  if (credentials.size === 0) return models;
  return models.map((model) => {
    if (!model.serves.some(({ provider }) => credentials.has(provider))) return model;
    return { ...model, serves: model.serves.map((serving) => servingWith(serving, credentials)) };
  });
}

function servingWith(serving: Serving, credentials: CredentialWeights): Serving {
  const weights = credentials.get(serving.provider);
  if (weights === undefined) return serving;
  const { provider, model } = serving;
  const each = [...weights].map(([name, weight]) => ({ provider: providerIdOf(provider, name), model, weight }));
  return { ...serving, credentials: each };
}
