import { withoutCredentials } from "../lib/redact.ts";
import type { RecordedArrival, RequestRecord } from "./request_record.ts";

/**
 * Texts of callers as logs may have them. Clients that are set up wrongly send their key as the model, or in the path.
 */

/** The path as it was sent, with `[redacted]` in place of a key. Each segment is looked at by itself. */
export function loggedPathOf({ sentPath }: Pick<RecordedArrival, "sentPath">): string {
  return sentPath.split("/").map(withoutCredentials).join("/");
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
