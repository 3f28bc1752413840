/** Measures the longest text or bytes that this thread parses, decodes, or gives to the platform in one step. */
export class StepMeasure implements Disposable {
  /** In characters or bytes. */
  maxLength = 0;
  readonly #parse = JSON.parse;
  readonly #stringify = JSON.stringify;
  readonly #decode = TextDecoder.prototype.decode;
  readonly #response = globalThis.Response;

  /**
   * Starts measuring.
   *
   * @param onLonger Called with each new maximum.
   */
  constructor(onLonger: (length: number) => void = () => {}) {
    const note = (length: number) => {
      if (length > this.maxLength) onLonger(this.maxLength = length);
    };
    const [parse, stringify, decode] = [this.#parse, this.#stringify, this.#decode];
    JSON.parse = (text, ...rest) => {
      note(text.length);
      return parse(text, ...rest);
    };
    JSON.stringify = (...args: unknown[]) => {
      const text = (stringify as (...args: unknown[]) => string)(...args);
      note(text?.length ?? 0);
      return text;
    };
    TextDecoder.prototype.decode = function (this: TextDecoder, bytes, options) {
      note(bytes?.byteLength ?? 0);
      return decode.call(this, bytes, options);
    };
    globalThis.Response = class extends this.#response {
      constructor(body?: BodyInit | null, init?: ResponseInit) {
        if (body instanceof Uint8Array || body instanceof ArrayBuffer) note(body.byteLength);
        super(body, init);
      }
    };
  }

  [Symbol.dispose](): void {
    JSON.parse = this.#parse;
    JSON.stringify = this.#stringify;
    TextDecoder.prototype.decode = this.#decode;
    globalThis.Response = this.#response;
  }
}
