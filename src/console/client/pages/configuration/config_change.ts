import { isJsonObject, type JsonFields, mergePatchOf } from "./merge_patch.ts";

/** A request that changes the configuration. */
export interface ConfigRequest {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  /** Without a query. */
  readonly path: string;
  /** Null for none. */
  readonly body: JsonFields | null;
}

/** The sections whose entries the store can own. Source: docs/api/admin.md#configuration. */
export const STORED_SECTIONS = ["providers", "models", "aliases", "limits", "egress", "logs"] as const;

/** Sections whose entries are objects; those of the others are single values. */
const OBJECT_SECTIONS: readonly string[] = ["providers", "models"];

/** Whether the entries of a section are objects. */
export function hasObjects(section: string): boolean {
  return OBJECT_SECTIONS.includes(section);
}

/** The address of an entry. The name of a model may have slashes. */
export function entryPath(section: string, name: string): string {
  return `/admin/v1/config/${section}/${name.split("/").map(encodeURIComponent).join("/")}`;
}

/** An entry as it is edited: without the id of a model, which is its name. */
export function editedValue(section: string, value: unknown): unknown {
  if (section !== "models" || !isJsonObject(value)) return value;
  const { id: _id, ...fields } = value;
  return fields;
}

/**
 * The request that stores an edited value.
 *
 * @param before The value in force as it was shown; undefined for a new entry.
 */
export function storeRequest(
  { section, name, before, after }: {
    readonly section: string;
    readonly name: string;
    readonly before: unknown;
    readonly after: unknown;
  },
): ConfigRequest {
  const path = entryPath(section, name);
  if (!hasObjects(section)) return { method: "PUT", path, body: { value: after } };
  const [old, next] = [before, after].map((value) => isJsonObject(value) ? value : null);
  if (next === null || next === undefined) return { method: "PUT", path, body: {} };
  if (old === null || old === undefined) return { method: "PUT", path, body: next };
  return { method: "PATCH", path, body: mergePatchOf(old, next) };
}
