/** The fields of a JSON object. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** Whether a JSON value is an object. */
export function isJsonObject(value: unknown): value is JsonFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The merge patch (RFC 7396) that makes one object of another. Equal fields are not in it, so that a secret that is
 * shown as `(set)` stays as it is.
 */
export function mergePatchOf(before: JsonFields, after: JsonFields): JsonFields {
  const patch: Record<string, unknown> = {};
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) patch[name] = null;
  for (const [name, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, name) ? before[name] : undefined;
    if (JSON.stringify(old) === JSON.stringify(value)) continue;
    patch[name] = isJsonObject(old) && isJsonObject(value) ? mergePatchOf(old, value) : value;
  }
  return patch;
}
