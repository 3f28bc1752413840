import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";

/** Fields whose values are secret in answers of the admin API. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  "secret",
  "webhook_secret",
  "api_key",
  "secret_key",
  "report_key",
  "client_secret",
  "service_account",
  "session_token",
  "admin_key",
  "key",
  "headers",
]);
const HIDDEN = "(secret)";
/** The largest size as JSON of the values before or after a change. */
export const MAX_VALUE_CHARACTERS = 4_000;

/**
 * Returns the fields in which two states of an object differ, first their values before, then after. Values of secret
 * fields are hidden. An object that is too large for the log has only its `id`.
 */
export function changedFields(
  before: JsonObject | null,
  after: JsonObject | null,
): [before: JsonObject | null, after: JsonObject | null] {
  if (before === null || after === null) return [bounded(before), bounded(after)];
  const names = Object.keys({ ...before, ...after }).filter((name) => !isDeepStrictEqual(before[name], after[name]));
  return [bounded(pick(before, names)), bounded(pick(after, names))];
}

function pick(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => name in object).map((name) => [name, object[name]])) as JsonObject;
}

function bounded(object: JsonObject | null): JsonObject | null {
  if (object === null) return null;
  const shown = withoutSecrets(object) as JsonObject;
  if (JSON.stringify(shown).length <= MAX_VALUE_CHARACTERS) return shown;
  return typeof shown.id === "string" ? { id: shown.id } : {};
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      SECRET_FIELDS.has(name) && item !== null ? HIDDEN : withoutSecrets(item),
    ]),
  );
}
