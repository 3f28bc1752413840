import * as z from "zod";
import { number, optional, secret } from "../lib/settings.ts";
import type { LimitsInput, WaitingLimits } from "./provider_limits.ts";
import { LIMIT_FIELDS } from "./limit_fields.ts";

/** One of several credentials of a provider. */
export interface CredentialConfig {
  /** Unique within the provider. */
  readonly name: string;
  /** If null, no key is sent, because `headers` have the credential. */
  readonly apiKey: string | null;
  /** As in `ProviderConfig`. */
  readonly secretKey?: string;
  /** Headers in addition to the provider's, by lower-case name. The values are secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** The share of attempts relative to the other credentials; 0 is used only after the others. Default: 1. */
  readonly weight: number;
  /** Limits on its use, in addition to the provider's. Default: none. */
  readonly limits?: WaitingLimits;
}

/** A credential as written in the configuration. */
export interface CredentialInput extends LimitsInput {
  readonly name: string;
  readonly api_key: string | null;
  readonly secret_key: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly weight: number;
}

const NAME_EXPECTATION = "a name of 1 to 64 lower-case letters, digits and . _ -";
const MAX_WEIGHT = 1_000_000;
/** Temporary keys of Amazon Bedrock contain a signed address. */
export const MAX_KEY_CHARACTERS = 4_096;

/**
 * The schema of a credential.
 *
 * @param headers The schema of header fields.
 */
export function credentialSchema(headers: z.ZodType<Record<string, string>>): z.ZodType<CredentialInput> {
  return z.strictObject({
    name: z.string(NAME_EXPECTATION).regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, NAME_EXPECTATION),
    api_key: optional(secret(1, MAX_KEY_CHARACTERS)),
    secret_key: optional(secret(1)),
    headers,
    weight: number(0, MAX_WEIGHT).default(1),
    ...LIMIT_FIELDS,
  }).refine(({ api_key, headers }) => api_key !== null || Object.keys(headers).length > 0, {
    path: ["api_key"],
    message: "the vendor's key",
  });
}
