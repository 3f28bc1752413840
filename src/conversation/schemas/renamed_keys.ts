import { isObject } from "../neutral/wire_value.ts";

/** Values within values; deeper ones stay as they are. */
const MAX_DEPTH = 128;

/** A JSON value with other keys in its objects, at every depth. Returns the value itself if none of them is renamed. */
export function renamedKeys(value: unknown, names: ReadonlyMap<string, string>, depth = 0): unknown {
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => renamedKeys(item, names, depth + 1));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, inner]): [string, unknown] => [
    names.get(key) ?? key,
    renamedKeys(inner, names, depth + 1),
  ]);
  const isSame = Object.keys(value).every((key, index) =>
    members[index]?.[0] === key && members[index]?.[1] === value[key]
  );
  return isSame ? value : Object.fromEntries(members);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/** The longest spelling of one UTF-16 unit in JSON: `\u0000`. */
const MAX_ESCAPE = 6;

/**
 * Renames the keys of a JSON text that arrives in pieces, at every depth. All other characters pass as they are, such
 * as the digits of long numbers; text that is not JSON passes too. A key is held until it ends, even if it is split.
 */
export class KeyRenamer {
  readonly #names: ReadonlyMap<string, string>;
  readonly #maxHeld: number;
  /** Whether each open container is an object. */
  readonly #isObject: boolean[] = [];
  /** Whether the next string is a key. */
  #expectsKey = false;
  #state: "outside" | "key" | "string" = "outside";
  #isEscaped = false;
  /** The beginning of a key, with its quote. */
  #held = "";

  /** @param names New names by the old ones. */
  constructor(names: ReadonlyMap<string, string>) {
    this.#names = names;
    const longest = names.keys().reduce((most, { length }) => Math.max(most, length), 0);
    this.#maxHeld = MAX_ESCAPE * longest + 2;
  }

  /** Returns what can be sent so far: the piece with its keys renamed, without a key that has not ended. */
  push(piece: string): string {
    let out = "";
    /** The start of what is neither sent nor held. */
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (this.#state === "outside") {
        if (code === QUOTE && this.#expectsKey) {
          out += piece.slice(from, at);
          from = at;
          this.#state = "key";
          this.#expectsKey = false;
        } else this.#takeOutside(code);
      } else if (this.#isEscaped) this.#isEscaped = false;
      else if (code === BACKSLASH) this.#isEscaped = true;
      else if (code === QUOTE) {
        if (this.#state === "key") {
          out += this.#renamed(this.#held + piece.slice(from, at + 1));
          this.#held = "";
          from = at + 1;
        }
        this.#state = "outside";
      }
    }
    const rest = piece.slice(from);
    if (this.#state !== "key") return out + rest;
    this.#held += rest;
    if (this.#held.length <= this.#maxHeld) return out;
    this.#state = "string";
    return out + this.end();
  }

  /** Returns the beginning of a key that has not ended. */
  end(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }

  #takeOutside(code: number): void {
    switch (code) {
      case QUOTE:
        this.#state = "string";
        break;
      case OPEN_OBJECT:
      case OPEN_LIST:
        this.#isObject.push(code === OPEN_OBJECT);
        this.#expectsKey = code === OPEN_OBJECT;
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        this.#isObject.pop();
        this.#expectsKey = false;
        break;
      case COMMA:
        this.#expectsKey = this.#isObject.at(-1) === true;
        break;
    }
  }

  #renamed(quoted: string): string {
    const name = this.#names.get(nameIn(quoted));
    return name === undefined ? quoted : JSON.stringify(name);
  }
}

function nameIn(quoted: string): string {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}

/** A JSON text with other keys in its objects; see {@linkcode KeyRenamer}. */
export function withRenamedKeys(text: string, names: ReadonlyMap<string, string>): string {
  const renamer = new KeyRenamer(names);
  return renamer.push(text) + renamer.end();
}
