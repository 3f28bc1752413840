import * as z from "zod";
import { readAccount, refuseErased } from "../../money/billing/accounts/account.ts";
import type { DeclaredAccounts } from "../../money/billing/declared/declared_accounts.ts";
import { changeKey, issueKey, listKeys, readKey, rotateKey } from "../../money/billing/keys/issued_key.ts";
import { KEY_FIELDS } from "../../money/billing/declared/setting_fields.ts";
import type { KeyRing } from "../../money/billing/keys/key_ring.ts";
import { keyKey, type KeyRecord } from "../../money/billing/accounts/records.ts";
import { type Handler, pathParam } from "../../platform/http/request/inbound.ts";
import type { LedgerMeter } from "../../money/billing/meter/meter.ts";
import { effectiveLimitsOf } from "../../money/limits/access_limits.ts";
import { writeLeft } from "../../money/limits/written_left.ts";
import type { Store } from "../../platform/store/store.ts";
import type { ReadJson } from "./accounts.ts";
import type { AdminRoute } from "./shared/admin_route.ts";
import { answerJson } from "./shared/answer.ts";
import { readFields, refuseUnkeptCapture } from "./shared/fields.ts";
import { readPage } from "./shared/query.ts";
import { writeKey } from "./shared/shown_keys.ts";
import { readsNewestFirst } from "./shared/time_page.ts";

/** The body of requests that issue or change a key. */
export const KeySettings = z.strictObject(KEY_FIELDS);

/** The dependencies of {@linkcode issueKeyHandler}. */
export interface IssueKeyOptions extends Pick<ChangeKeyOptions, "store" | "noBodiesReason"> {
  /** Also accepts an empty body. */
  readonly readOptionalJson: ReadJson;
}

/**
 * `POST /admin/v1/accounts/:account/keys` with the settings of keys, or an empty body: 201 with the key and its secret,
 * which is shown only once.
 */
export function issueKeyHandler({ store, readOptionalJson, noBodiesReason }: IssueKeyOptions): Handler {
  return async (inbound) => {
    const { id } = await readAccount(store, pathParam(inbound.params, "account"));
    const settings = readFields(KeySettings, await readOptionalJson(inbound));
    refuseUnkeptCapture(settings.capture, noBodiesReason);
    const { key, secret } = await issueKey(store, id, settings);
    return answerJson({ ...writeKey(key), secret }, 201);
  };
}

/** `GET /admin/v1/accounts/:account/keys/:key`: the key, and what its limits and those of its account have left. */
export function getKeyHandler(store: Store, meter: Pick<LedgerMeter, "limitsLeft">): Handler {
  return async ({ params }) => {
    const key = await readKey(store, pathParam(params, "account"), pathParam(params, "key"));
    const account = await readAccount(store, key.account);
    const limits = effectiveLimitsOf(key, account);
    const caller = { keyId: key.id, accountId: key.account, limits };
    const left = limits === null ? null : await meter.limitsLeft(caller);
    const now = store.now();
    return answerJson({
      ...writeKey(key),
      left: { key: writeLeft(left?.key, now), account: writeLeft(left?.account, now) },
    });
  };
}

const MAX_OVERLAP_SECONDS = 30 * 86_400;
const OVERLAP_EXPECTATION = `whole seconds from 0 to ${MAX_OVERLAP_SECONDS}`;
/** The body of `POST …/:key/rotate`. */
export const Rotation = z.strictObject({
  overlap: z.int(OVERLAP_EXPECTATION).min(0, OVERLAP_EXPECTATION).max(MAX_OVERLAP_SECONDS, OVERLAP_EXPECTATION)
    .default(0),
});

/** The dependencies of {@linkcode rotateKeyHandler}. */
export interface RotateKeyOptions extends Pick<ChangeKeyOptions, "store" | "keys" | "declared"> {
  /** Also accepts an empty body. */
  readonly readOptionalJson: ReadJson;
}

/**
 * `POST /admin/v1/accounts/:account/keys/:key/rotate` `{overlap?}`: 201 with a new key of the same settings and its
 * secret, and the key before as `replaced`, which is revoked, or expires after `overlap` seconds.
 */
export function rotateKeyHandler({ store, keys, declared, readOptionalJson }: RotateKeyOptions): Handler {
  return async (inbound) => {
    const { overlap } = readFields(Rotation, await readOptionalJson(inbound));
    const [account, id] = [pathParam(inbound.params, "account"), pathParam(inbound.params, "key")];
    refuseErased(await readAccount(store, account));
    await declared.refuseRevocation(account, id);
    const { key, secret, replaced } = await rotateKey(store, account, id, overlap * 1_000);
    keys.evictAccount(account);
    return answerJson({ ...writeKey(key), secret, replaced: writeKey(replaced) }, 201);
  };
}

/** The dependencies of {@linkcode changeKeyHandler}. */
export interface ChangeKeyOptions {
  readonly store: Store;
  readonly keys: Pick<KeyRing, "evictAccount">;
  /** What only the configuration file changes. */
  readonly declared: DeclaredAccounts;
  readonly readJson: ReadJson;
  /** See {@linkcode refuseUnkeptCapture}. */
  readonly noBodiesReason: string | null;
}

/**
 * `PATCH /admin/v1/accounts/:account/keys/:key`: the key with its settings changed. A field that is given is replaced,
 * null removes it, a missing field is kept (RFC 7396). The change is in force for the next request.
 */
export function changeKeyHandler({ store, keys, declared, readJson, noBodiesReason }: ChangeKeyOptions): Handler {
  return async (inbound) => {
    const changes = readFields(KeySettings, await readJson(inbound));
    refuseUnkeptCapture(changes.capture, noBodiesReason);
    const [account, id] = [pathParam(inbound.params, "account"), pathParam(inbound.params, "key")];
    refuseErased(await readAccount(store, account));
    await declared.refuseKeyFields(account, id, changes);
    const key = await changeKey(store, account, id, changes);
    keys.evictAccount(key.account);
    return answerJson(writeKey(key));
  };
}

/**
 * `GET /admin/v1/accounts/:account/keys?limit&after&order`: `{data, next}`, oldest first unless `order=desc`, revoked
 * keys included.
 */
export function listKeysHandler(store: Store): Handler {
  return async ({ params, query }) => {
    const { id } = await readAccount(store, pathParam(params, "account"));
    const page = { ...readPage(query), reverse: readsNewestFirst(query, "asc") };
    const { keys, next } = await listKeys(store, id, page);
    return answerJson({ data: keys.map(writeKey), next });
  };
}

/** `DELETE /admin/v1/accounts/:account/keys/:key`: revokes the key; this process rejects it from now on. */
export function revokeKeyHandler(
  store: Store,
  keys: Pick<KeyRing, "revoke">,
  declared: Pick<DeclaredAccounts, "refuseRevocation">,
): Handler {
  return async ({ params }) => {
    const { id } = await readAccount(store, pathParam(params, "account"));
    const key = pathParam(params, "key");
    await declared.refuseRevocation(id, key);
    return answerJson(writeKey(await keys.revoke(id, key)));
  };
}

/** Reads a key as it is shown, for the audit log. */
export function keySnapshot(store: Store): NonNullable<AdminRoute["snapshot"]> {
  return async ({ params }) => {
    const [entry] = await store.get<KeyRecord>([keyKey(pathParam(params, "account"), pathParam(params, "key"))]);
    return entry ? writeKey(entry.value) : null;
  };
}
