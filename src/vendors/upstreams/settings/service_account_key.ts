import * as z from "zod";
import { httpAddress } from "../../../platform/lib/settings/settings.ts";

/** What is used of the key file of a service account. */
export interface ServiceAccountKey {
  readonly email: string;
  /** Identifies the key; null if the file names none. */
  readonly keyId: string | null;
  /** PEM. Never logged. */
  readonly privateKey: string;
  /** The address that issues tokens. */
  readonly tokenUrl: string;
}

const keyFile = z.object({
  type: z.literal("service_account"),
  client_email: z.string().regex(/^[\x21-\x7e]{3,320}$/),
  private_key_id: z.string().max(200).optional(),
  private_key: z.string().regex(/^\s*-----BEGIN (?:RSA )?PRIVATE KEY-----/),
  token_uri: httpAddress().default("https://oauth2.googleapis.com/token"),
}).transform(({ client_email, private_key_id, private_key, token_uri }): ServiceAccountKey => ({
  email: client_email,
  keyId: private_key_id ?? null,
  privateKey: private_key,
  tokenUrl: token_uri,
}));

/** Reads the text of a service account's key file; null if it is not one. */
export function readServiceAccountKey(json: string): ServiceAccountKey | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  return keyFile.safeParse(value).data ?? null;
}
