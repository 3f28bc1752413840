import type { JsonObject } from "../../platform/lib/json/json_object.ts";
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
   * @param options `by`: that member, `type` by default. `usual`: the kind of an object that names none. `isNamed`:
   * whether any other kind is part of the path of unread members: `messages.content.document.title`. `takesOthers`:
   * whether objects of other kinds are left to the reader, which reports what it does not read of them.
   */
  constructor(
    readonly shapes: Readonly<Record<string, Shape>>,
    readonly options: {
      readonly kindField?: string;
      readonly defaultKind?: string;
      readonly isKindInPath?: boolean;
      readonly allowsOthers?: boolean;
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
