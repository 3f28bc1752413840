import { createHash } from "node:crypto";
import type { Key } from "../../../platform/store/store.ts";

/** What is kept of replies: reasoning by call or text, and output items by id. */
export type ReplyKind = "reasoning" | "item";

const MAX_ID_CHARACTERS = 200;

/**
 * The key of something kept of a reply.
 *
 * @param key The id of the account, a space, and an id of any length.
 */
export function keptReplyKey(kind: ReplyKind, key: string): Key {
  const end = key.indexOf(" ");
  const id = key.slice(end + 1);
  const short = id.length <= MAX_ID_CHARACTERS ? id : createHash("sha256").update(id).digest("base64");
  return [...keptRepliesOf(key.slice(0, end), kind), short];
}

/** The prefix of the keys of an account. */
export function keptRepliesOf(accountId: string, kind: ReplyKind): Key {
  return ["kept_reply", accountId, kind];
}
