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

/** The path as it was sent, with `[redacted]` in place of a key. Each segment is looked at by itself. */
export function loggedPathOf({ sentPath }: Pick<RecordedArrival, "sentPath">): string {
  if (CLEAN_PATHS.has(sentPath)) return sentPath;
  const logged = sentPath.split("/").map(withoutCredentials).join("/");
  if (logged === sentPath && sentPath.length <= MAX_KEPT_CHARACTERS) {
    if (CLEAN_PATHS.size >= MAX_CLEAN_PATHS) CLEAN_PATHS.clear(); // paths with ids of tasks come once
    CLEAN_PATHS.add(sentPath);
  }
  return logged;
}

/** The model as the caller named it, with `[redacted]` in place of a key. */
export function loggedModelOf({ model, servedModel }: Pick<RequestRecord, "model" | "servedModel">): string | null {
  // A model that was found has its name from the catalog.
  return model === null || servedModel !== null ? model : withoutCredentials(model);
}

/** The message of an error, which can repeat what the caller sent, with `[redacted]` in place of a key. */
export function loggedMessageOf({ message }: { readonly message: string | null }): string | null {
  return message === null ? null : withoutCredentials(message);
}
