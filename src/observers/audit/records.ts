import type { Key } from "../../platform/store/store.ts";

/** The prefix of the admin keys. */
export const ADMIN_KEYS: Key = ["audit", "admin_key"];

/** The prefix of the entries of the audit log. */
export const AUDIT_ENTRIES: Key = ["audit", "entry"];

/** The key of an admin key. */
export function adminKeyKey(name: string): Key {
  return [...ADMIN_KEYS, name];
}

/** The key of an audit entry. Ids are in the order of time. */
export function auditEntryKey(id: string): Key {
  return [...AUDIT_ENTRIES, id];
}

/** The actor of commands over a stopped store. */
export const COMMAND_LINE = "command line";

/** The actor of changes that the start of a gateway makes. */
export const CONFIGURATION = "configuration";
