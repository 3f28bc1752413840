import { randomBytes } from "node:crypto";
import type { Store } from "../../../platform/store/store.ts";
import { updateRecord } from "./update_record.ts";
import { OPERATOR, webhookSecretKey, type WebhookSecretRecord } from "./records.ts";
import { missingAccount } from "./missing_account.ts";

/** The shortest configured secret. */
export const MIN_SECRET_CHARACTERS = 8;

const OVERLAP_MS = 24 * 3_600_000;

/** A new webhook secret: `whsec_` and 32 random bytes in base64. Source: Standard Webhooks, "Signature scheme". */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

/**
 * The secrets that sign an account's webhooks: the current one first, then, for a day after a rotation, the previous
 * one. Empty if there is no such account.
 */
export async function readWebhookSecrets(store: Store, account: string): Promise<string[]> {
  const [entry] = await store.get<WebhookSecretRecord>([webhookSecretKey(account)]);
  return webhookSecretsIn(entry?.value ?? null, store.now());
}

/**
 * The same for a record that was read already.
 *
 * @param now Unix milliseconds.
 */
export function webhookSecretsIn(record: WebhookSecretRecord | null, now: number): string[] {
  if (!record) return [];
  const { current, previous } = record;
  return previous && now < previous.until ? [current, previous.secret] : [current];
}

/**
 * Gives an account a new webhook secret. The previous one stays valid for 24 hours, so that receivers can switch.
 *
 * @returns The new secret.
 * @throws {GatewayError} `not_found` if there is no such account.
 */
export async function rotateWebhookSecret(store: Store, account: string): Promise<string> {
  const secret = newWebhookSecret();
  const rotated = await updateRecord<WebhookSecretRecord>(store, webhookSecretKey(account), ({ current }) => ({
    current: secret,
    previous: { secret: current, until: store.now() + OVERLAP_MS },
  }));
  if (!rotated) throw await missingAccount(store, account);
  return secret;
}

/**
 * Stores the secret that signs notifications to the operator. The one before stays valid for 24 hours. A repeat changes
 * nothing.
 */
export async function setOperatorSecret(store: Store, secret: string): Promise<void> {
  const key = webhookSecretKey(OPERATOR);
  const [entry = null] = await store.get<WebhookSecretRecord>([key]);
  if (entry?.value.current === secret) return;
  const previous = entry && { secret: entry.value.current, until: store.now() + OVERLAP_MS };
  const value: WebhookSecretRecord = { current: secret, previous };
  // Refused if another process was first, which has the same configuration.
  await store.commit(null, { check: [{ key, version: entry?.version ?? null }], set: [{ key, value }] });
}
