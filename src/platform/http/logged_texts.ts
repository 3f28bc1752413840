import { withoutCredentials } from "../lib/text/redact.ts";
import type { RecordedArrival, RequestRecord } from "./request/request_record.ts";

/**
 * Texts of callers as logs may have them. Clients that are set up wrongly send their key as the model, or in the path.
 */

/**
 * Paths in which no key was found. The search takes about 9 µs, a twentieth of what a small request takes, and most
 * requests have one of few paths.
 */
const CLEAN_PATHS = new Set<string>();
const MAX_CLEAN_PATHS = 256;
const MAX_KEPT_CHARACTERS = 256;

/**
 * The most characters of a path, a model and a message that are searched and logged. Logs have fewer, and each of those
 * that anyone may send costs time.
 */
const MAX_CHARACTERS = { path: 1_000, model: 512, message: 4_000 };

/** The beginning of the path as it was sent, with `[redacted]` in place of a key. Segments are looked at singly. */
export function loggedPathOf({ sentPath }: Pick<RecordedArrival, "sentPath">): string {
  if (CLEAN_PATHS.has(sentPath)) return sentPath;
  const logged = sentPath.slice(0, MAX_CHARACTERS.path).split("/").map(withoutCredentials).join("/");
  if (logged === sentPath && sentPath.length <= MAX_KEPT_CHARACTERS) {
    if (CLEAN_PATHS.size >= MAX_CLEAN_PATHS) CLEAN_PATHS.clear(); // paths with ids of tasks come once
    CLEAN_PATHS.add(sentPath);
  }
  return logged;
}

/** The beginning of the model as the caller named it, with `[redacted]` in place of a key. */
export function loggedModelOf({ model, servedModel }: Pick<RequestRecord, "model" | "servedModel">): string | null {
  // A model that was found has its name from the catalog.
  return model === null || servedModel !== null ? model : withoutCredentials(model.slice(0, MAX_CHARACTERS.model));
}

/** The beginning of an error's message, which can repeat what the caller sent, with `[redacted]` in place of a key. */
export function loggedMessageOf({ message }: { readonly message: string | null }): string | null {
  return message === null ? null : withoutCredentials(message.slice(0, MAX_CHARACTERS.message));
}
