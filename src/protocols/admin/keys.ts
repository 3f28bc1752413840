import { readAccount } from "../../billing/account.ts";
import { type IssuedKey, issueKey, listKeys } from "../../billing/issued_key.ts";
import type { KeyRing } from "../../billing/key_ring.ts";
import { type Handler, pathParam } from "../../http/inbound.ts";
import { secondsOf } from "../../lib/clock.ts";
import type { JsonObject } from "../../lib/json_object.ts";
import type { Store } from "../../store/store.ts";
import { answerJson } from "./answer.ts";
import { readPage } from "./fields.ts";

/** `POST /admin/v1/accounts/:account/keys`: 201 with the key and its secret, which is shown only once. */
export function issueKeyHandler(store: Store): Handler {
  return async ({ params }) => {
    const { id } = await readAccount(store, pathParam(params, "account"));
    const { key, secret } = await issueKey(store, id);
    return answerJson({ ...writeKey(key), secret }, 201);
  };
}

/** `GET /admin/v1/accounts/:account/keys?limit&after`: `{data, next}`, oldest first, revoked keys included. */
export function listKeysHandler(store: Store): Handler {
  return async ({ params, query }) => {
    const { id } = await readAccount(store, pathParam(params, "account"));
    const { keys, next } = await listKeys(store, id, readPage(query));
    return answerJson({ data: keys.map(writeKey), next });
  };
}

/** `DELETE /admin/v1/accounts/:account/keys/:key`: revokes the key; this process rejects it from now on. */
export function revokeKeyHandler(store: Store, keys: Pick<KeyRing, "revoke">): Handler {
  return async ({ params }) => {
    const { id } = await readAccount(store, pathParam(params, "account"));
    return answerJson(writeKey(await keys.revoke(id, pathParam(params, "key"))));
  };
}

function writeKey({ id, account, prefix, createdAt, lastUsedAt, revokedAt }: IssuedKey): JsonObject {
  return {
    id,
    account,
    prefix,
    created_at: secondsOf(createdAt),
    last_used_at: lastUsedAt === null ? null : secondsOf(lastUsedAt),
    revoked_at: revokedAt === null ? null : secondsOf(revokedAt),
  };
}
