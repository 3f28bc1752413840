import { isAbsent, isObject, listOf } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { fieldOf, invalidFieldError, listIn } from "./google_fields.ts";
import { enumerationFault } from "../schema_rules.ts";

const TYPES = ["TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];

/**
 * Rejects what the vendor rejects in a schema of its own type, apart from unknown members. Source: Gemini API
 * reference, "Schema"; the vendor's error messages.
 *
 * @throws {SimulatedError}
 */
export function checkOwnSchema(schema: JsonObject, path: string, model: string): void {
  const type = typeIn(schema, path);
  const properties = isObject(schema.properties) ? schema.properties : {};
  if (type === "OBJECT" && /gemini-[12]/.test(model) && Object.keys(properties).length === 0) {
    throw invalidFieldError(`${path}.properties`, "should be non-empty for OBJECT type");
  }
  if (type === "ARRAY" && isAbsent(schema.items)) throw invalidFieldError(`${path}.items`, "missing field.");
  if (Array.isArray(schema.items)) {
    throw new SimulatedError(400, `Invalid JSON payload received. Unknown name "items" at '${path}': ${NO_LIST}`);
  }
  checkValues(schema, path, type);
  listOf(schema.required).forEach((name, index) => {
    if (isObject(schema.properties) && Object.hasOwn(properties, String(name))) return;
    throw invalidFieldError(`${path}.required[${index}]`, "property is not defined");
  });
  for (const [name, value] of Object.entries(properties)) {
    if (isObject(value)) checkOwnSchema(value, `${path}.properties[${name}]`, model);
  }
  if (isObject(schema.items)) checkOwnSchema(schema.items, `${path}.items`, model);
  listIn(fieldOf(schema, "anyOf")).forEach((each, index) => checkOwnSchema(each, `${path}.any_of[${index}]`, model));
}

const NO_LIST = "Proto field is not repeating, cannot start list.";

function typeIn({ type }: JsonObject, path: string): string {
  if (isAbsent(type)) return "";
  if (Array.isArray(type)) {
    throw new SimulatedError(400, `Invalid JSON payload received. Unknown name "type" at '${path}': ${NO_LIST}`);
  }
  const name = String(type).toUpperCase();
  if (TYPES.includes(name)) return name;
  throw new SimulatedError(
    400,
    `Invalid value at '${path}.type' (type.googleapis.com/google.ai.generativelanguage.v1beta.Type), "${type}"`,
  );
}

function checkValues(schema: JsonObject, path: string, type: string): void {
  const fault = enumerationFault(schema, path);
  if (fault !== null) throw new SimulatedError(400, fault);
  if (listOf(schema.enum).some((value) => typeof value !== "string")) {
    throw new SimulatedError(400, `Invalid value at '${path}.enum' (TYPE_STRING)`);
  }
  const { format } = schema;
  if (type === "STRING" && !isAbsent(format) && format !== "enum" && format !== "date-time") {
    throw invalidFieldError(`${path}.format`, "only 'enum' and 'date-time' are supported for STRING type");
  }
}
