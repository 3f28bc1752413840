import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";
import { camelCaseOf } from "./request_walk.ts";
import { isAbsent, isObject } from "../neutral/wire_value.ts";

/**
 * Which parts of a value a request reader reads.
 *
 * - `true`: all of it, whatever it holds.
 * - A function: all of it when the function returns true, otherwise nothing. For values that request the default
 *   behavior.
 * - An array of one shape: that shape for each element, or for a single value that is not an array.
 * - {@linkcode Kinds}: a shape that depends on the value's own kind.
 * - An object: these members, each by its own shape. A member that is not listed is not read.
 */
export type Shape = true | ((value: unknown) => boolean) | readonly [Shape] | Kinds | Fields;

/** The members of an object that a reader reads. */
export interface Fields {
  readonly [name: string]: Shape;
}

/** Shapes by the kind that an object states. */
export class Kinds {
  /**
   * @param shapes By the value of the member that names the kind.
   * @param options `kindField`: that member, `type` by default. `defaultKind`: the kind of an object that names none.
   * `isKindInPath`: whether any other kind is part of the path of unread members: `messages.content.document.title`.
   * `allowsOthers`: whether objects of other kinds are left to the reader, which reports what it does not read of them.
   * `isKnown`: whether the format has a kind that is not read; a translated request with any other one is refused.
   * Absent where other kinds are not refused.
   */
  constructor(
    readonly shapes: Readonly<Record<string, Shape>>,
    readonly options: {
      readonly kindField?: string;
      readonly defaultKind?: string;
      readonly isKindInPath?: boolean;
      readonly allowsOthers?: boolean;
      readonly isKnown?: (kind: string, value: JsonObject) => boolean;
    } = {},
  ) {}
}

/**
 * The members of a request that a shape does not read, once each: dotted paths in the caller's spelling, without array
 * indexes, such as `messages.name`. An object of an unknown kind is reported by its kind: `tools.web_search`. An empty
 * object counts as present, null as absent.
 *
 * @param isTwofold True for a format with two spellings of each name; shapes are then in camel case.
 */
export function unreadFields(body: JsonObject, shape: Fields, isTwofold: boolean = false): ReadonlySet<string> {
  const walk = new Walk(isTwofold);
  walk.members(body, shape, "");
  return walk.unread;
}

/** One walk over a request. */
class Walk {
  readonly unread = new Set<string>();

  constructor(readonly isTwofold: boolean) {}

  members(object: JsonObject, fields: Fields, path: string): void {
    for (const key in object) {
      const value = object[key];
      if (isAbsent(value)) continue;
      const name = this.isTwofold ? camelCaseOf(key) : key;
      const shape = ownValue(fields, name);
      if (shape === true) continue;
      const at = path === "" ? key : `${path}.${key}`;
      if (shape === undefined) this.unread.add(at);
      else this.#value(value, shape, at);
    }
  }

  #value(value: unknown, shape: Shape, path: string): void {
    if (shape === true) return;
    if (typeof shape === "function") {
      if (!shape(value)) this.unread.add(path);
    } else if (isList(shape)) {
      for (const element of Array.isArray(value) ? value : [value]) this.#value(element, shape[0], path);
    } else if (isObject(value)) {
      if (shape instanceof Kinds) this.#kind(value, shape, path);
      else if (Object.keys(value).length === 0) this.unread.add(path);
      else this.members(value, shape, path);
    }
  }

  #kind(value: JsonObject, { shapes, options }: Kinds, path: string): void {
    const kind = value[options.kindField ?? "type"] ?? options.defaultKind;
    if (typeof kind !== "string") return void this.unread.add(path);
    const shape = ownValue(shapes, kind);
    if (shape === undefined) {
      if (!options.allowsOthers) this.unread.add(`${path}.${kind}`);
    } else this.#value(value, shape, options.isKindInPath && kind !== options.defaultKind ? `${path}.${kind}` : path);
  }
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}

const MAX_SHOWN_CHARACTERS = 64;

/** An object of an unknown kind. */
interface Unknown {
  /** From the object that is searched: `.content[2].type`. */
  readonly path: string;
  readonly expected: string;
}

/**
 * Refuses an object of a kind that the format does not have, such as a content part with the type `txt`. Its content
 * would be lost in a translation. Only kinds with {@linkcode Kinds.options}`.isKnown` are checked.
 *
 * @throws {GatewayError} `invalid_request` that names the first one: `messages[0].content[2].type`.
 */
export function refuseUnknownKinds(body: JsonObject, shape: Fields): void {
  const unknown = memberIn(body, shape);
  if (unknown !== null) throw invalidField(unknown.path.slice(1), unknown.expected);
}

/** "expected" with the names that a caller can use, and the one that was sent. */
export function expectedNames(names: readonly string[], sent: unknown): string {
  const got = typeof sent === "string" ? JSON.stringify(sent.slice(0, MAX_SHOWN_CHARACTERS)) : "nothing";
  const quoted = names.map((name) => `"${name}"`);
  const last = quoted.at(-1) ?? "";
  return `expected ${quoted.length < 2 ? last : `${quoted.slice(0, -1).join(", ")} or ${last}`}, got ${got}`;
}

/** Paths are built only for errors, because every translated request is searched. */
function unknownIn(value: unknown, shape: Shape): Unknown | null {
  if (shape === true || typeof shape === "function" || typeof value !== "object" || value === null) return null;
  if (isList(shape)) return Array.isArray(value) ? elementIn(value, shape[0]) : unknownIn(value, shape[0]);
  if (!isObject(value)) return null;
  return shape instanceof Kinds ? kindIn(value, shape) : memberIn(value, shape);
}

function elementIn(list: readonly unknown[], shape: Shape): Unknown | null {
  for (let index = 0; index < list.length; index++) {
    const unknown = unknownIn(list[index], shape);
    if (unknown !== null) return { ...unknown, path: `[${index}]${unknown.path}` };
  }
  return null;
}

function memberIn(object: JsonObject, fields: Fields): Unknown | null {
  for (const name in fields) {
    const shape = ownValue(fields, name);
    const unknown = shape === undefined || isAbsent(object[name]) ? null : unknownIn(object[name], shape);
    if (unknown !== null) return { ...unknown, path: `.${name}${unknown.path}` };
  }
  return null;
}

function kindIn(object: JsonObject, { shapes, options }: Kinds): Unknown | null {
  const { kindField = "type", defaultKind, isKnown } = options;
  const kind = object[kindField] ?? defaultKind;
  const shape = typeof kind === "string" ? ownValue(shapes, kind) : undefined;
  if (shape !== undefined) return unknownIn(object, shape);
  if (isKnown === undefined || (typeof kind === "string" && isKnown(kind, object))) return null;
  return { path: `.${kindField}`, expected: expectedNames(Object.keys(shapes), kind) };
}
