import type { JsonObject } from "../lib/json_object.ts";
import { ownValue } from "../lib/own_value.ts";
import { camelCaseOf } from "./request_walk.ts";
import { isAbsent, isObject } from "./wire_value.ts";

/**
 * What a reader of requests reads of one value.
 *
 * - `true`: all of it, whatever it holds.
 * - A function: all of it where the function is true, nothing else. For values that ask for what happens anyway.
 * - An array of one shape: that shape of each element, or of a lone value that is no array.
 * - {@linkcode Kinds}: a shape that the value's own kind decides.
 * - An object: these members, each by its own shape. A member that is not listed is not read.
 */
export type Shape = true | ((value: unknown) => boolean) | readonly [Shape] | Kinds | Fields;

/** The members of an object that are read. */
export interface Fields {
  readonly [name: string]: Shape;
}

/** Shapes by the kind that an object names itself. */
export class Kinds {
  /**
   * @param shapes By the value of the member that names the kind.
   * @param options `by`: that member, `type` by default. `usual`: the kind of an object that names none. `isNamed`:
   * whether any other kind stands in the names of unread members: `messages.content.document.title`. `takesOthers`:
   * whether objects of other kinds are left to the reader, which names what it does not read of them.
   */
  constructor(
    readonly shapes: Readonly<Record<string, Shape>>,
    readonly options: {
      readonly by?: string;
      readonly usual?: string;
      readonly isNamed?: boolean;
      readonly takesOthers?: boolean;
    } = {},
  ) {}
}

/**
 * Names the members of a request that a shape does not read, once each: dotted paths in the caller's spelling, without
 * places in arrays, such as `messages.name`. An object of an unknown kind is named by its kind: `tools.web_search`. An
 * empty object counts as present, null counts as absent.
 *
 * @param isTwofold True for a format with two spellings of each name, where shapes are written in camel case.
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
    const kind = value[options.by ?? "type"] ?? options.usual;
    if (typeof kind !== "string") return void this.unread.add(path);
    const shape = ownValue(shapes, kind);
    if (shape === undefined) {
      if (!options.takesOthers) this.unread.add(`${path}.${kind}`);
    } else this.#value(value, shape, options.isNamed && kind !== options.usual ? `${path}.${kind}` : path);
  }
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}
