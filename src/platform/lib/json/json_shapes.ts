/** Deeper levels count as one. */
const MAX_LEVELS = 256;
/** Each shape has one of so many places. */
const PLACE_BITS = 18;
/** Of a longer name only these letters count. */
const MAX_NAME_LETTERS = 64;
const EMPTY = 0x9e3779b9 | 0;
/** Odd and not foreseeable, so that no sender can find names that share a place. */
const [FACTOR = 1, OTHER_FACTOR = 1] = crypto.getRandomValues(new Int32Array(2)).map((each) => each | 1);

/**
 * Counts the shapes of objects that a parser of JSON has to make. Objects share a shape if their names are the same, in
 * the same order; each name that leads to a shape of its own takes as long as ten values. Source: V8, "Maps (Hidden
 * Classes)".
 */
export class JsonShapes {
  /** The shapes that were made. Some are missed if there are very many. */
  made = 0;
  readonly #seen = new Uint8Array(2 ** (PLACE_BITS - 3));
  /** The shape of the open object of each level. */
  readonly #shapes = new Int32Array(MAX_LEVELS);
  #level = 0;

  /** An object or a list begins. */
  open(): void {
    this.#level++;
    this.#shapes[this.#level & (MAX_LEVELS - 1)] = EMPTY;
  }

  /** An object or a list ends. */
  close(): void {
    this.#level--;
  }

  /** The open object gets a member. @param letters The text that has the name, from `start` to `end`. */
  add(letters: { readonly [at: number]: number } | string, start: number, end: number): void {
    const level = this.#level & (MAX_LEVELS - 1);
    let shape = this.#shapes[level] ?? EMPTY;
    const last = Math.min(end, start + MAX_NAME_LETTERS);
    for (let at = start; at < last; at++) {
      const letter = typeof letters === "string" ? letters.charCodeAt(at) : letters[at] ?? 0;
      shape = Math.imul(shape ^ letter, FACTOR);
      shape ^= shape >>> 15;
    }
    shape = Math.imul(shape + end - start, OTHER_FACTOR);
    this.#shapes[level] = shape;
    const place = shape >>> (32 - PLACE_BITS);
    const mask = 1 << (place & 7);
    const seen = this.#seen[place >>> 3] ?? 0;
    if ((seen & mask) !== 0) return;
    this.#seen[place >>> 3] = seen | mask;
    this.made++;
  }
}
