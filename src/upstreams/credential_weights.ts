import type { CredentialConfig } from "./credential_config.ts";

/** The weights of the named credentials, by the names of provider and credential. */
export function credentialWeights(
  configs: Readonly<Record<string, { readonly credentials?: readonly CredentialConfig[] }>>,
): ReadonlyMap<string, ReadonlyMap<string, number>> {
  return new Map(
    Object.entries(configs).flatMap(([provider, { credentials }]) =>
      credentials ? [[provider, new Map(credentials.map(({ name, weight }) => [name, weight] as const))] as const] : []
    ),
  );
}
