import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";

/**
 * The name of a member in the caller's spelling. Protobuf's JSON mapping accepts `camelCase` and `snake_case`, and
 * clients and samples of the vendor send both.
 */
function spelledIn(object: JsonObject, name: string): string {
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return object[name] === undefined && object[snake] !== undefined ? snake : name;
}

/** A member in either spelling; undefined if it is absent or null, which are the same in this protocol. */
export function memberIn(object: JsonObject, name: string): unknown {
  return object[spelledIn(object, name)] ?? undefined;
}

/**
 * A member that is an object, or absent.
 *
 * @param path The path of the object, with a final dot; empty for the body.
 * @throws {GatewayError} `invalid_request` for any other value.
 */
export function objectIn(object: JsonObject, name: string, path = ""): JsonObject | undefined {
  const value = memberIn(object, name);
  if (value === undefined || isJsonObject(value)) return value;
  throw invalidField(path + spelledIn(object, name), "expected an object");
}

/** As {@linkcode objectIn}, for a text. */
export function textIn(object: JsonObject, name: string, path = ""): string | undefined {
  const value = memberIn(object, name);
  if (value === undefined || typeof value === "string") return value;
  throw invalidField(path + spelledIn(object, name), "expected text");
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
