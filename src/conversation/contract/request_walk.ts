import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { RequestGrammar } from "./request_grammar.ts";
import { isObject } from "../neutral/wire_value.ts";

/** A member of an object that a vendor interprets, or one text in such a member's array. */
export interface RequestMember {
  /** The key as it was sent. */
  readonly key: string;
  /** The key in camel case, so that both spellings of the content format compare alike. */
  readonly name: string;
  /** As it was sent. */
  readonly value: unknown;
  /** The object that holds the member. */
  readonly owner: JsonObject;
  /** 0 for top-level members of the request. */
  readonly depth: number;
  /** The path in the caller's spelling: `input[0].content[1].file_id`. */
  path(): string;
}

/** Called for each member, always with the same object: do not keep it. */
export type MemberVisitor = (member: RequestMember) => void;

interface Position {
  readonly parent: Position | null;
  /** Within a list, the index of the element that is visited now. */
  step: string | number;
}

/**
 * Visits every member of a request that a vendor may interpret, at any depth, also within unknown kinds of content
 * parts. Skips the caller's own data: JSON Schemas, arguments and results of tools, metadata, annotations of earlier
 * replies. Skips the roles and texts of messages too: they are most members of a long conversation, and vendors read
 * nothing else from them.
 *
 * @param body The parsed request. `extra_body` is skipped, because it is never sent.
 */
export function walkRequest(grammar: RequestGrammar, body: JsonObject, visit: MemberVisitor): void {
  new Walk(grammar, visit).object(body, null, 0);
}

/** A key as protobuf's JSON mapping spells it: `file_uri` as `fileUri`. Idempotent. */
export function camelCaseOf(key: string): string {
  return key.includes("_") ? key.replace(/(?<=[^_])_+([a-z0-9])/gi, (_, next: string) => next.toUpperCase()) : key;
}

/**
 * One walk. It runs for every request, so one mutable object represents each member in turn, and positions are recorded
 * for nested objects only.
 */
class Walk implements RequestMember {
  key = "";
  name = "";
  value: unknown;
  owner: JsonObject = {};
  depth = 0;
  #parent: Position | null = null;
  #index: number | null = null;

  constructor(readonly grammar: RequestGrammar, readonly visit: MemberVisitor) {}

  path(): string {
    const position = { parent: this.#parent, step: this.key };
    return pathOf(this.#index === null ? position : { parent: position, step: this.#index });
  }

  object(owner: JsonObject, parent: Position | null, depth: number): void {
    for (const key in owner) {
      const value = owner[key];
      if (typeof value === "string" && depth > 0 && PLAIN_TEXTS.has(key)) continue;
      const name = camelCaseOf(key);
      this.#visit(key, name, value, owner, depth, parent, null);
      if (typeof value !== "object" || value === null || isCallersOwn(this.grammar, owner, key, depth)) continue;
      if (Array.isArray(value)) this.#list(value, key, name, owner, parent, depth);
      else this.object(value as JsonObject, { parent, step: key }, depth + 1);
    }
  }

  #list(
    list: readonly unknown[],
    key: string,
    name: string,
    owner: JsonObject,
    parent: Position | null,
    depth: number,
  ) {
    const position = { parent: { parent, step: key }, step: 0 };
    for (let index = 0; index < list.length; index++) {
      const element = list[index];
      if (typeof element === "string") this.#visit(key, name, element, owner, depth, parent, index);
      else if (Array.isArray(element)) this.#list(element, `${key}[${index}]`, name, owner, parent, depth);
      else if (isObject(element)) {
        position.step = index;
        this.object(element, position, depth + 1);
      }
    }
  }

  #visit(
    key: string,
    name: string,
    value: unknown,
    owner: JsonObject,
    depth: number,
    parent: Position | null,
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

/** Keys of strings that are only a role or a text, in messages and their parts. */
const PLAIN_TEXTS: ReadonlySet<string> = new Set(["content", "role", "text"]);

/** Keys with values that vendors do not interpret, at any depth below the top level. */
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
/** The same for top-level members. */
const OPAQUE_AT_TOP: ReadonlySet<string> = new Set(["metadata", "labels", "extra_body"]);

function isCallersOwn(grammar: RequestGrammar, owner: JsonObject, key: string, depth: number): boolean {
  if (depth === 0) return OPAQUE_AT_TOP.has(key);
  const name = camelCaseOf(key);
  return OPAQUE.has(name) || grammar.isCallerData(owner, name);
}

function pathOf(position: Position): string {
  const before = position.parent === null ? "" : pathOf(position.parent);
  if (typeof position.step === "number") return `${before}[${position.step}]`;
  return before === "" ? position.step : `${before}.${position.step}`;
}
