import { objectOf, parsedOrNull } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";

/**
 * The header fields in which clients send the session of a request: Claude Code since 2.1.86, Codex since and before
 * its use of hyphens, and others. Sources: Claude Code documentation, "LLM gateway configuration"; openai/codex,
 * `codex-rs/codex-api/src/requests/headers.rs`.
 */
const HEADER_FIELDS = ["x-claude-code-session-id", "session-id", "session_id", "x-session-id"] as const;

/** What is taken as an id: one word, so that no text of a conversation gets into the log. */
const ID = /^[\x21-\x7e]{1,128}$/;
/** What Claude Code before 2.1.78 sent as `metadata.user_id`: `user_<hash>_account_<id>_session_<uuid>`. */
const CLAUDE_USER = /^user_.*_session_([0-9A-Za-z-]{1,64})$/;

/**
 * The session to which a client says that a request belongs: by a header field, by `metadata.session_id`, by the
 * `metadata.user_id` of Claude Code, or by `user`, for clients that have no other id. Null for none, and for a value
 * that is not one word.
 */
export function sessionOf(headers: Pick<Headers, "get">, { metadata, user }: JsonObject): string | null {
  for (const name of HEADER_FIELDS) {
    const id = idIn(headers.get(name));
    if (id !== null) return id;
  }
  const { session_id: ofMetadata, user_id: ofUser } = objectOf(metadata) ?? NO_MEMBERS;
  return idIn(ofMetadata) ?? claudeSessionIn(ofUser) ?? idIn(user);
}

/** Claude Code 2.1.78 and later sends the members of its user as JSON. */
function claudeSessionIn(user: unknown): string | null {
  if (typeof user !== "string" || user.length > MAX_USER) return null;
  return user.startsWith("{") ? idIn(objectOf(parsedOrNull(user))?.session_id) : idIn(CLAUDE_USER.exec(user)?.[1]);
}

const MAX_USER = 1_000;
const NO_MEMBERS: JsonObject = {};

function idIn(value: unknown): string | null {
  return typeof value === "string" && ID.test(value) ? value : null;
}
