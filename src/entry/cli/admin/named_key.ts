import { addressOf } from "../../../platform/endpoints/endpoint.ts";
import { OPERATOR_ENDPOINTS } from "../../../platform/endpoints/operators.ts";
import { appendAll } from "../../../platform/lib/collections/append_all.ts";
import { nearestWord } from "../../../platform/lib/text/nearest_word.ts";
import type { AdminResponse, SendAdminCall } from "./admin_api.ts";
import type { AdminCall } from "./admin_call.ts";

/** A key of an account as the admin API lists it. */
interface ListedKey {
  readonly id: string;
  readonly name?: string | null;
  readonly prefix?: string;
  readonly revoked_at: unknown;
}

const KEY_ID = /^key_[0-9a-f]{28}$/;
const PAGE = 100;
/** The most keys that are compared with a name. */
const MAX_PAGES = 100;

/**
 * Sends a call of a key that is named by its id, its name, or the first characters of its id or secret. A key that is
 * not revoked takes precedence over revoked ones of the same name.
 *
 * @returns The answer, or an answer 404 or 409 if no key or several keys are meant.
 */
export async function sendToKey(call: AdminCall, send: SendAdminCall): Promise<AdminResponse> {
  const { ofKey } = call;
  if (ofKey === undefined || KEY_ID.test(ofKey.key)) return await send(call);
  const keys = await keysOf(ofKey.account, send);
  if (!Array.isArray(keys)) return keys;
  const found = meantBy(ofKey.key, keys);
  const [only] = found;
  if (only === undefined) return failed(404, noSuchKey(ofKey.key, keys));
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(", ");
    return failed(409, `Several keys are meant by ${JSON.stringify(ofKey.key)}: name one by its id: ${ids}`);
  }
  return await send({ ...call, path: call.path.replace(`/keys/${encodeURIComponent(ofKey.key)}`, `/keys/${only.id}`) });
}

/** All keys of an account, or the answer that is an error. */
async function keysOf(account: string, send: SendAdminCall): Promise<ListedKey[] | AdminResponse> {
  const keys: ListedKey[] = [];
  let after = "";
  for (let page = 0; page < MAX_PAGES; page++) {
    const path = `${addressOf(OPERATOR_ENDPOINTS.listKeys, { account })}?limit=${PAGE}${after}`;
    const response = await send({ method: "GET", path });
    if (response.status >= 400) return response;
    const { data, next } = response.body as { data: readonly ListedKey[]; next: string | null };
    appendAll(keys, data);
    if (next === null) break;
    after = `&after=${encodeURIComponent(next)}`;
  }
  return keys;
}

function meantBy(text: string, keys: readonly ListedKey[]): readonly ListedKey[] {
  const named = keys.filter(({ name }) => name === text);
  const found = named.length > 0 ? named : keys.filter((key) => isBegun(text, key));
  const valid = found.filter(({ revoked_at }) => revoked_at === null);
  return valid.length > 0 ? valid : found;
}

/** The shortest prefix that names a key: less would be the part that all generated keys share. */
const MIN_PREFIX_CHARACTERS = 8;

/**
 * Whether a text is the beginning of a key's id, or begins like what is known of its secret. It can be longer than
 * that: a whole secret.
 */
function isBegun(text: string, { id, prefix = "" }: ListedKey): boolean {
  if (text.length < MIN_PREFIX_CHARACTERS) return false;
  return id.startsWith(text) || prefix.startsWith(text) || (prefix !== "" && text.startsWith(prefix));
}

/** The text is not repeated if it could be a secret. */
function noSuchKey(text: string, keys: readonly ListedKey[]): string {
  const names = keys.flatMap(({ name, revoked_at }) => name && revoked_at === null ? [name] : []);
  const nearest = nearestWord(text, names);
  const meant = nearest === null ? "" : `; did you mean "${nearest}"?`;
  return `Cannot find the key: no key of the account has this id, name or prefix${meant}`;
}

function failed(status: number, message: string): AdminResponse {
  return { status, body: { error: { message } } };
}
