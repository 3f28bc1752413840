import type { Clock } from "../../platform/lib/basics/clock.ts";

/** The longest wait for an isolate to apply a change. */
const PATIENCE_MS = 30_000;

/** Waits until receivers have acknowledged messages. One that has ended, or does not respond, is not waited for. */
export class Acknowledgements<Receiver> {
  readonly #pending = new Map<number, { readonly waiting: Set<Receiver>; readonly done: () => void }>();
  #nextId = 1;

  constructor(readonly clock: Clock) {}

  /**
   * Sends a message to all receivers. Resolves when all have acknowledged it, or have ended, at the latest after 30 s.
   *
   * @param send Sends the message with this id.
   */
  ofAll(receivers: Iterable<Receiver>, send: (id: number) => void): Promise<void> {
    const id = this.#nextId++;
    const waiting = new Set(receivers);
    if (waiting.size === 0) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.clock.after(PATIENCE_MS, resolve);
    this.#pending.set(id, { waiting, done: resolve });
    send(id);
    return promise.then(() => {
      cancel();
      this.#pending.delete(id);
    });
  }

  /** A receiver has acknowledged the message with this id. */
  add(receiver: Receiver, id: number): void {
    const pending = this.#pending.get(id);
    pending?.waiting.delete(receiver);
    if (pending?.waiting.size === 0) pending.done();
  }

  /** A receiver has ended, and acknowledges nothing more. */
  addEnded(receiver: Receiver): void {
    for (const id of [...this.#pending.keys()]) this.add(receiver, id);
  }
}
