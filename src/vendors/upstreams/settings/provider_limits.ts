import { providerIdOf } from "../../../platform/names/provider_name.ts";

/** Limits on the attempts at one vendor account. An absent limit does not apply. */
export interface ProviderLimits {
  /** Attempts that start per minute. As many may start at once after a quiet minute. */
  readonly rpm?: number;
  /** Tokens of prompts and outputs per minute. */
  readonly tpm?: number;
  /** Attempts that are open at once, each until the end of its reply. */
  readonly concurrency?: number;
}

/** The limits of a provider, and the longest wait for a place within them. */
export interface WaitingLimits extends ProviderLimits {
  /** In milliseconds. */
  readonly maxWaitMs: number;
}

/** The fields of {@linkcode ProviderLimits} in the configuration. */
export interface LimitsInput {
  readonly rpm?: number | undefined;
  readonly tpm?: number | undefined;
  readonly concurrency?: number | undefined;
}

/** The limits that an entry sets; null if it sets none. */
export function limitsOf({ rpm, tpm, concurrency }: LimitsInput): ProviderLimits | null {
  if (rpm === undefined && tpm === undefined && concurrency === undefined) return null;
  return {
    ...(rpm !== undefined && { rpm }),
    ...(tpm !== undefined && { tpm }),
    ...(concurrency !== undefined && { concurrency }),
  };
}

/** A provider or a credential that may have limits. */
interface Limited {
  readonly limits?: WaitingLimits;
}

/** A credential that may have limits. */
interface LimitedCredential extends Limited {
  readonly name: string;
}

/** The limits of the providers and credentials that have limits: by name for a provider, by id for a credential. */
export function limitsByProvider(
  configs: Readonly<Record<string, Limited & { readonly credentials?: readonly LimitedCredential[] }>>,
): ReadonlyMap<string, WaitingLimits> {
  const found = new Map<string, WaitingLimits>();
  for (const [name, { limits, credentials = [] }] of Object.entries(configs)) {
    if (limits) found.set(name, limits);
    for (const credential of credentials) {
      if (credential.limits) found.set(providerIdOf(name, credential.name), credential.limits);
    }
  }
  return found;
}
