import type { JsonObject } from "../lib/json_object.ts";
import type { RequestGrammar } from "./request_grammar.ts";
import { isObject } from "./wire_value.ts";

/** One member of an object that a vendor reads as protocol, or one text of such a member's array. */
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

/** Looks at one member; the same object is given for each, so it must not be kept. */
export type MemberVisitor = (member: RequestMember) => void;

interface Place {
  readonly parent: Place | null;
  readonly step: string | number;
}

/**
 * Visits every member of a request that a vendor may read as protocol, at any depth. What a caller wrote for its own
 * use is not entered: JSON Schemas, arguments and results of tools, metadata, annotations of earlier replies. So an
 * unknown kind of content part is visited like a known one.
 *
 * @param body The parsed request. `extra_body` is not entered, because it is never sent.
 */
export function walkRequest(grammar: RequestGrammar, body: JsonObject, visit: MemberVisitor): void {
  new Walk(grammar, visit).object(body, null, 0);
}

/** A key as protobuf's JSON mapping spells it: `file_uri` as `fileUri`. Applying it twice changes nothing more. */
export function camelCaseOf(key: string): string {
  return key.includes("_") ? key.replace(/(?<=[^_])_+([a-z0-9])/gi, (_, next: string) => next.toUpperCase()) : key;
}

/**
 * One walk. Every request is walked, so members are shown by one object that changes, and places are made for nests
 * alone.
 */
class Walk implements RequestMember {
  key = "";
  name = "";
  value: unknown;
  owner: JsonObject = {};
  depth = 0;
  #parent: Place | null = null;
  #index: number | null = null;

  constructor(readonly grammar: RequestGrammar, readonly visit: MemberVisitor) {}

  path(): string {
    const place = { parent: this.#parent, step: this.key };
    return pathOf(this.#index === null ? place : { parent: place, step: this.#index });
  }

  object(owner: JsonObject, parent: Place | null, depth: number): void {
    for (const key in owner) {
      const value = owner[key];
      const name = camelCaseOf(key);
      this.#show(key, name, value, owner, depth, parent, null);
      if (typeof value !== "object" || value === null || isCallersOwn(this.grammar, owner, key, depth)) continue;
      if (Array.isArray(value)) this.#list(value, key, name, owner, parent, depth);
      else this.object(value as JsonObject, { parent, step: key }, depth + 1);
    }
  }

  #list(list: readonly unknown[], key: string, name: string, owner: JsonObject, parent: Place | null, depth: number) {
    const place = { parent, step: key };
    for (let index = 0; index < list.length; index++) {
      const element = list[index];
      if (typeof element === "string") this.#show(key, name, element, owner, depth, parent, index);
      else if (Array.isArray(element)) this.#list(element, `${key}[${index}]`, name, owner, parent, depth);
      else if (isObject(element)) this.object(element, { parent: place, step: index }, depth + 1);
    }
  }

  #show(
    key: string,
    name: string,
    value: unknown,
    owner: JsonObject,
    depth: number,
    parent: Place | null,
    index: number | null,
  ): void {
    this.key = key;
    this.name = name;
    this.value = value;
    this.owner = owner;
    this.depth = depth;
    this.#parent = parent;
    this.#index = index;
    this.visit(this);
  }
}

/** Keys whose values no vendor resolves, wherever they stand within a member of the request. */
const OPAQUE: ReadonlySet<string> = new Set([
  "parameters",
  "parametersJsonSchema",
  "inputSchema",
  "inputExamples",
  "outputSchema",
  "schema",
  "responseSchema",
  "responseJsonSchema",
  "annotations",
  "citations",
]);
/** The same of members of the request itself; no format has one of the names above there. */
const OPAQUE_AT_TOP: ReadonlySet<string> = new Set(["metadata", "labels", "extra_body"]);

function isCallersOwn(grammar: RequestGrammar, owner: JsonObject, key: string, depth: number): boolean {
  if (depth === 0) return OPAQUE_AT_TOP.has(key);
  const name = camelCaseOf(key);
  return OPAQUE.has(name) || grammar.isCallersOwn(owner, name);
}

function pathOf(place: Place): string {
  const before = place.parent === null ? "" : pathOf(place.parent);
  if (typeof place.step === "number") return `${before}[${place.step}]`;
  return before === "" ? place.step : `${before}.${place.step}`;
}
