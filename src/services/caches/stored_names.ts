import { isObject } from "../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";

/**
 * Replacer for `JSON.stringify` that writes a conversation with the member names of the stored format: a part's
 * `signature` is stored as `seal`, and the `format` of a signature or of a search's origin as `form`. Files outlive
 * versions of the gateway, so these names never change.
 */
export function toStoredNames(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  if (isObject(value.signature) && hasMembers(value.signature, "format", "issuer", "value")) {
    const { signature, ...others } = value;
    return { ...others, seal: renamed(signature, "format", "form") };
  }
  if (isObject(value.origin) && hasMembers(value.origin, "format", "issuer")) {
    return { ...value, origin: renamed(value.origin, "format", "form") };
  }
  return value;
}

/** Reviver for `JSON.parse`: the inverse of {@linkcode toStoredNames}. */
export function fromStoredNames(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  if (isObject(value.seal) && hasMembers(value.seal, "form", "issuer", "value")) {
    const { seal, ...others } = value;
    return { ...others, signature: renamed(seal, "form", "format") };
  }
  if (isObject(value.origin) && hasMembers(value.origin, "form", "issuer")) {
    return { ...value, origin: renamed(value.origin, "form", "format") };
  }
  return value;
}

function hasMembers(value: JsonObject, ...names: readonly string[]): boolean {
  return Object.keys(value).length === names.length && names.every((name) => Object.hasOwn(value, name));
}

function renamed(value: unknown, from: string, to: string): unknown {
  if (!isObject(value)) return value;
  const { [from]: member, ...others } = value;
  return { [to]: member, ...others };
}
