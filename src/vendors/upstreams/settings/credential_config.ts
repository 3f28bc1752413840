import * as z from "zod";
import { headerFields } from "../../../platform/http/request/header_fields.ts";
import { setting } from "../../../platform/lib/settings/setting.ts";
import { number, secret } from "../../../platform/lib/settings/settings.ts";
import type { WaitingLimits } from "./provider_limits.ts";
import { limitFields } from "./limit_fields.ts";

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

const NAME_EXPECTATION = "a name of 1 to 64 lower-case letters, digits and . _ -";
const MAX_WEIGHT = 1_000_000;
/** Temporary keys of Amazon Bedrock contain a signed address. */
export const MAX_KEY_CHARACTERS = 4_096;

/** What `secret_key` of a provider or a credential is. */
export const SECRET_KEY_TEXT = "Kinds `kling` and `bedrock`: signs for the access key in `api_key`";

/** The schema of a credential. */
export function credentialSchema() {
  return z.strictObject({
    name: setting(z.string(NAME_EXPECTATION).regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, NAME_EXPECTATION), {
      text: "A name, for logs and `providers list`",
      example: "a",
    }),
    api_key: setting(secret(1, MAX_KEY_CHARACTERS), {
      default: null,
      text: "One of several keys of the vendor; required unless `headers` has it",
      example: "${KEY_A}",
      otherwise: "none",
    }),
    secret_key: setting(secret(1), {
      default: null,
      text: SECRET_KEY_TEXT,
      example: "${KLING_SECRET_KEY}",
      otherwise: "none",
    }),
    headers: setting(headerFields(), {
      default: {},
      text: "Further header fields of requests with this key",
      example: { "x-project": "search" },
    }),
    weight: setting(number(0, MAX_WEIGHT), {
      default: 1,
      text: "Its share of the requests; 0 is used when the others fail",
      example: 3,
      unit: "share",
    }),
    ...limitFields("the credential"),
  }).refine(({ api_key, headers }) => api_key !== null || Object.keys(headers).length > 0, {
    path: ["api_key"],
    message: "the vendor's key",
  });
}

/** A credential as written in the configuration. */
export type CredentialInput = z.output<ReturnType<typeof credentialSchema>>;
