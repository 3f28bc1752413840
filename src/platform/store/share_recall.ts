import type { Clock } from "../lib/basics/clock.ts";
import type { MaybePromise } from "../lib/basics/maybe_promise.ts";
import type { StoreEngine } from "./engine.ts";

/** What {@linkcode ShareRecall} needs. */
export interface ShareRecallOptions {
  readonly store: Pick<StoreEngine, "announce" | "onWake">;
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
  /** The processes that share the store, with this one. */
  readonly gateways: () => number;
}

/** Whose money and limits are recalled. */
export interface RecalledCaller {
  readonly accountId: string;
  readonly keyId: string;
}

/** A request to the others that is under way. */
interface OpenRecall {
  answers: number;
  isOver: boolean;
  changed: PromiseWithResolvers<void>;
}

const RECALLED = "shares_recalled";
const RETURNED = "shares_returned";
/** A refused call waits so long for what others return. */
const MAX_WAIT_MS = 200;
/** After a recall in vain, calls of a key are refused without another one. */
const IN_VAIN_MS = 200;
const MAX_IN_VAIN = 10_000;

/**
 * Recalls what other processes lease of money and limits and do not use, so that a call is not refused because of it.
 * The messages are the store's announcements. One that is lost costs the wait.
 */
export class ShareRecall {
  readonly #process = crypto.randomUUID();
  readonly #open = new Map<string, OpenRecall>();
  /** Until when a key is not recalled again, by the monotonic clock. */
  readonly #inVain = new Map<string, number>();

  constructor(private readonly options: ShareRecallOptions) {}

  /**
   * Starts to answer others.
   *
   * @param giveBack Returns to the store what this process does not use.
   */
  listen(giveBack: (caller: RecalledCaller) => Promise<void>): void {
    this.options.store.onWake((message) => {
      const [kind, asker, keyId, accountId] = message.split(" ");
      if (asker === undefined || keyId === undefined || accountId === undefined) return;
      if (kind === RETURNED && asker === this.#process) this.#onAnswer(`${keyId} ${accountId}`);
      if (kind !== RECALLED || asker === this.#process) return;
      // What could not be returned ends by itself, and the answer ends the wait.
      const answer = () => this.options.store.announce?.([RETURNED, asker, keyId, accountId].join(" "));
      giveBack({ accountId, keyId }).then(answer, answer);
    });
  }

  /**
   * Tries a refused call again whenever others have returned something, for as long as the wait lasts.
   *
   * @param refusal Thrown if others were recalled in vain a moment ago.
   * @param isRefusal Whether an error of the call is a refusal, after which it is tried again.
   * @throws What the last attempt threw.
   */
  async retried<T>(
    { keyId, accountId }: RecalledCaller,
    { refusal, isRefusal, call }: {
      readonly refusal: unknown;
      readonly isRefusal: (error: unknown) => boolean;
      readonly call: () => MaybePromise<T>;
    },
  ): Promise<T> {
    const name = `${keyId} ${accountId}`;
    if (this.options.clock.monotonicMs() < (this.#inVain.get(name) ?? -Infinity)) throw refusal;
    const recall = this.#open.get(name) ?? this.#recall(name);
    // Ends with the recall, which is over after its time limit.
    for (let seen = 0;;) {
      if (recall.answers === seen && !recall.isOver) await recall.changed.promise;
      const { isOver } = recall;
      seen = recall.answers;
      try {
        return await call();
      } catch (error) {
        if (!isRefusal(error)) throw error;
        if (!isOver) continue;
        this.#noteInVain(name);
        throw error;
      }
    }
  }

  #recall(name: string): OpenRecall {
    const recall: OpenRecall = { answers: 0, isOver: false, changed: Promise.withResolvers() };
    this.#open.set(name, recall);
    this.options.clock.after(MAX_WAIT_MS, () => this.#end(name, recall));
    this.options.store.announce?.([RECALLED, this.#process, name].join(" "));
    return recall;
  }

  #onAnswer(name: string): void {
    const recall = this.#open.get(name);
    if (recall === undefined) return;
    recall.answers++;
    if (recall.answers >= this.options.gateways() - 1) return this.#end(name, recall);
    recall.changed.resolve();
    recall.changed = Promise.withResolvers();
  }

  #end(name: string, recall: OpenRecall): void {
    if (this.#open.get(name) === recall) this.#open.delete(name);
    recall.isOver = true;
    recall.changed.resolve();
  }

  #noteInVain(name: string): void {
    this.#inVain.delete(name);
    this.#inVain.set(name, this.options.clock.monotonicMs() + IN_VAIN_MS);
    const [oldest] = this.#inVain.keys();
    if (this.#inVain.size > MAX_IN_VAIN && oldest !== undefined) this.#inVain.delete(oldest);
  }
}
