/** Counts the turns of the event loop of this thread: those in which a timer of zero milliseconds was called. */
export class EventLoopTurns implements Disposable {
  #count = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Starts counting. */
  constructor() {
    const next = () => {
      this.#timer = setTimeout(() => {
        this.#count++;
        next();
      }, 0);
    };
    next();
  }

  /** The turns so far. */
  get count(): number {
    return this.#count;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
