import type { JsonObject } from "../lib/json_object.ts";
import type { Form } from "./seal.ts";
import { isObject } from "./wire_value.ts";

/** One member of an object that a vendor reads as protocol, or one scalar element of such a member's array. */
export interface RequestMember {
  /** The key as it was sent. */
  readonly key: string;
  /** The key in camel case, so that both spellings of the content format compare alike. */
  readonly name: string;
  readonly value: unknown;
  /** The object that holds the member. */
  readonly owner: JsonObject;
  /** 0 for members of the request itself. */
  readonly depth: number;
  /** The path in the caller's spelling: `input[0].content[1].file_id`. */
  path(): string;
}

interface Place {
  readonly parent: Place | null;
  readonly step: string | number;
}

/**
 * Visits every member of a request that a vendor may read as protocol, at any depth. What a caller wrote for its own use is
 * not entered: JSON Schemas, arguments and results of tools, metadata, annotations of earlier replies. So an unknown kind
 * of content part is visited like a known one.
 *
 * @param body The parsed request. `extra_body` is not entered, because it is never sent.
 */
export function walkRequest(form: Form, body: JsonObject, visit: (member: RequestMember) => void): void {
  walkObject(form, body, null, 0, visit);
}

/** A key as protobuf's JSON mapping spells it: `file_uri` as `fileUri`. Applying it twice changes nothing more. */
export function camelCaseOf(key: string): string {
  return key.includes("_") ? key.replace(/(?<=[^_])_+([a-z0-9])/gi, (_, next: string) => next.toUpperCase()) : key;
}

function walkObject(form: Form, owner: JsonObject, at: Place | null, depth: number, visit: Visit): void {
  for (const key of Object.keys(owner)) {
    const name = camelCaseOf(key);
    const member = { key, name, value: owner[key], owner, depth };
    const place = { parent: at, step: key };
    visit({ ...member, path: () => pathOf(place) });
    if (!isCallersOwn(form, owner, name, depth)) walkValue(form, member, place, visit);
  }
}

type Visit = (member: RequestMember) => void;

function walkValue(form: Form, member: Omit<RequestMember, "path">, place: Place, visit: Visit): void {
  const { value, depth } = member;
  if (isObject(value)) return walkObject(form, value, place, depth + 1, visit);
  if (!Array.isArray(value)) return;
  for (let index = 0; index < value.length; index++) {
    const element = { ...member, value: value[index] as unknown };
    const inner = { parent: place, step: index };
    if (typeof element.value === "string") visit({ ...element, path: () => pathOf(inner) });
    else walkValue(form, element, inner, visit);
  }
}

/** Keys whose values no vendor resolves, wherever they stand. */
const OPAQUE: ReadonlySet<string> = new Set([
  "parameters",
  "parametersJsonSchema",
  "inputSchema",
  "outputSchema",
  "schema",
  "responseSchema",
  "responseJsonSchema",
  "annotations",
  "citations",
]);
/** The same, for members of the request itself. */
const OPAQUE_AT_TOP: ReadonlySet<string> = new Set(["metadata", "labels", "extraBody"]);

function isCallersOwn(form: Form, owner: JsonObject, name: string, depth: number): boolean {
  if (OPAQUE.has(name)) return true;
  if (depth === 0) return OPAQUE_AT_TOP.has(name);
  if (form === "content") return name === "args" || name === "response";
  return form === "messages" && name === "input" && typeof owner.type === "string" && owner.type.endsWith("tool_use");
}

function pathOf(place: Place): string {
  const before = place.parent === null ? "" : pathOf(place.parent);
  if (typeof place.step === "number") return `${before}[${place.step}]`;
  return before === "" ? place.step : `${before}.${place.step}`;
}
