import { appendAll } from "../../platform/lib/collections/append_all.ts";
import { setImmediate } from "node:timers";
import type { Posted } from "./wire.ts";
import { writeMessages } from "./wire.ts";
import type { FromIsolate, ToIsolate } from "./messages.ts";

/** How long a message may wait for others that cannot wait. */
const LATER_MS = 20;

/**
 * The messages to another thread that are not sent yet. A message costs the receiver and the sender more by itself than
 * its content, so that all messages of a turn of the event loop are sent as one.
 */
export class Outbox<M extends FromIsolate | ToIsolate> {
  #messages: M[] = [];
  #transfer: ArrayBuffer[] = [];
  #isDue = false;
  #isTimed = false;

  /** @param send Sends messages, and moves buffers. */
  constructor(readonly send: (messages: Posted, transfer: ArrayBuffer[]) => void) {}

  /** Sends a message at the end of the turn, after those that were posted before. */
  post(message: M, transfer: readonly ArrayBuffer[] = []): void {
    this.#add(message, transfer);
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#flushDue);
  }

  /** Sends a message together with the next that cannot wait, at the latest after 20 ms. */
  postLater(message: M, transfer: readonly ArrayBuffer[] = []): void {
    this.#add(message, transfer);
    if (this.#isDue || this.#isTimed) return;
    this.#isTimed = true;
    setTimeout(this.#flushTimed, LATER_MS);
  }

  /** Sends everything now. */
  flush(): void {
    if (this.#messages.length === 0) return;
    const [messages, transfer] = [this.#messages, this.#transfer];
    this.#messages = [];
    this.#transfer = [];
    this.send(writeMessages(messages), transfer);
  }

  #add(message: M, transfer: readonly ArrayBuffer[]): void {
    this.#messages.push(message);
    appendAll(this.#transfer, transfer);
  }

  readonly #flushDue = (): void => {
    this.#isDue = false;
    this.flush();
  };

  readonly #flushTimed = (): void => {
    this.#isTimed = false;
    this.flush();
  };
}
