import { setImmediate } from "node:timers";
import type { Moved } from "../../platform/workers/worker_thread.ts";
import type { Posted } from "./wire.ts";
import { writeMessages } from "./wire.ts";
import type { FromServing, ToServing } from "./messages.ts";

/** A message and what moves with it. */
interface MovedWith<M> {
  readonly message: M;
  readonly values: readonly Moved[];
}

/** How long a message may wait for others that cannot wait. */
const LATER_MS = 20;

/**
 * The messages to another thread that are not sent yet. A message costs the receiver and the sender more by itself than
 * its content, so that all messages of a turn of the event loop are sent as one.
 */
export class Outbox<M extends FromServing | ToServing> {
  #messages: M[] = [];
  /** What moves with each message with which anything does. */
  #moved: MovedWith<M>[] = [];
  #isDue = false;
  #isTimed = false;

  /**
   * @param send Sends messages, and moves buffers and ports.
   * @param onUnsent Receives a message that cannot be sent, such as one with a buffer that has moved before, and why.
   * Whoever waits for its answer must learn of it. Default: it is reported.
   */
  constructor(
    readonly send: (messages: Posted, moved: Moved[]) => void,
    readonly onUnsent: (message: M, error: unknown) => void = (_message, error) => reportError(error),
  ) {}

  /** Sends a message at the end of the turn, after those that were posted before. */
  post(message: M, moved: readonly Moved[] = []): void {
    this.#add(message, moved);
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#flushDue);
  }

  /** Sends a message together with the next that cannot wait, at the latest after 20 ms. */
  postLater(message: M, moved: readonly Moved[] = []): void {
    this.#add(message, moved);
    if (this.#isDue || this.#isTimed) return;
    this.#isTimed = true;
    setTimeout(this.#flushTimed, LATER_MS);
  }

  /** Sends everything now. */
  flush(): void {
    if (this.#messages.length === 0) return;
    const [messages, moved] = [this.#messages, this.#moved];
    this.#messages = [];
    this.#moved = [];
    try {
      this.send(writeMessages(messages), moved.flatMap(({ values }) => values));
    } catch (error) {
      if (messages.length === 1 && messages[0] !== undefined) return this.onUnsent(messages[0], error);
      for (const message of messages) this.#sendAlone(message, moved);
    }
  }

  /** Sends a message by itself after all of them could not be sent: the others are of other requests. */
  #sendAlone(message: M, moved: readonly MovedWith<M>[]): void {
    try {
      const own = moved.filter((each) => each.message === message);
      this.send(writeMessages([message]), own.flatMap(({ values }) => values));
    } catch (error) {
      this.onUnsent(message, error);
    }
  }

  #add(message: M, values: readonly Moved[]): void {
    this.#messages.push(message);
    if (values.length > 0) this.#moved.push({ message, values });
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
