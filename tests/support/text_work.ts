/** Counts work on texts of this thread that can grow with the square of their length, without measuring time. */
export class TextWork implements Disposable {
  /** The characters of all texts that were searched from their end, or whose end was trimmed. */
  searched = 0;
  /** The errors that a parser of event streams made, each with a stack. */
  errors = 0;
  readonly #lastIndexOf = String.prototype.lastIndexOf;
  readonly #trimEnd = String.prototype.trimEnd;

  /** Starts counting. */
  constructor() {
    const [lastIndexOf, trimEnd] = [this.#lastIndexOf, this.#trimEnd];
    const note = (text: string) => void (this.searched += text.length);
    const onError = () => void this.errors++;
    String.prototype.lastIndexOf = function (this: string, ...args) {
      note(this);
      return lastIndexOf.apply(this, args);
    };
    String.prototype.trimEnd = function (this: string) {
      note(this);
      return trimEnd.call(this);
    };
    // The parser's errors are the only ones that are given a `type`.
    Object.defineProperty(Error.prototype, "type", { configurable: true, set: onError });
  }

  [Symbol.dispose](): void {
    String.prototype.lastIndexOf = this.#lastIndexOf;
    String.prototype.trimEnd = this.#trimEnd;
    Reflect.deleteProperty(Error.prototype, "type");
  }
}
