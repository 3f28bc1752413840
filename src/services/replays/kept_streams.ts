import type { Clock } from "../../platform/lib/basics/clock.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { Holdings } from "../../platform/lib/collections/holdings.ts";
import { MAX_TURN_BYTES, nextTurn } from "../../platform/lib/streams/loop_turns.ts";
import type { HeldMemory } from "../../platform/lib/process/memory_budget.ts";
import { EventSplitter } from "./event_splitter.ts";
import { KeptStream, type StreamFacts } from "./kept_stream.ts";

/** The limits of streams whose events are kept. */
export interface StreamLimits {
  /** The most bytes of one stream. Of a longer one, the last events are kept. */
  readonly streamBytes: number;
  /** The most bytes of all streams of an account. */
  readonly accountBytes: number;
  /** The most streams of an account. */
  readonly accountStreams: number;
  /** How long the events are kept after the end of the stream, in milliseconds. */
  readonly keepMs: number;
}

const RETRY_SECONDS = 10;

/** The streams of all accounts whose events are kept, by the id of their request. */
export class KeptStreams {
  readonly #streams = new Map<string, KeptStream>();
  /** In the order in which they began. */
  readonly #byAccount = new Map<string, Map<string, KeptStream>>();

  /** The streams of accounts that are admitted, and not kept yet. */
  readonly #admitted = new Holdings();

  constructor(private readonly clock: Clock) {}

  /** The number of streams. */
  get count(): number {
    return this.#streams.size;
  }

  /**
   * Counts another stream of an account that is going to be kept. If there is no room for it, the oldest that has ended
   * is removed.
   *
   * @returns Gives the place back: directly before {@linkcode KeptStreams.keep}, or if there is no stream. Further
   * calls have no effect.
   * @throws {GatewayError} `rate_limited` if too many are under way.
   */
  admit(accountId: string, { accountStreams }: StreamLimits): () => void {
    const own = this.#byAccount.get(accountId);
    const count = (own?.size ?? 0) + this.#admitted.of(accountId);
    if (count >= accountStreams) this.#removeEnded(accountId, accountStreams);
    this.#admitted.add(accountId, 1);
    let isGivenBack = false;
    return () => {
      if (!isGivenBack) this.#admitted.add(accountId, -1);
      isGivenBack = true;
    };
  }

  #removeEnded(accountId: string, accountStreams: number): void {
    for (const stream of this.#byAccount.get(accountId)?.values() ?? []) {
      if (stream.isOver) return this.#remove(stream);
    }
    throw new GatewayError(
      "rate_limited",
      `Cannot keep the events of another stream: the account has ${accountStreams} under way; send the request without`,
      { retryAfterSeconds: RETRY_SECONDS, field: "X-Service-Resume" },
    );
  }

  /**
   * Reads a stream to its end, whoever reads its events.
   *
   * @param memory Counts the events. Ended with them.
   * @returns The kept events, and a promise that resolves at the end of the stream.
   */
  keep(
    facts: StreamFacts,
    body: ReadableStream<Uint8Array<ArrayBuffer>>,
    { memory, limits }: { readonly memory: HeldMemory; readonly limits: StreamLimits },
  ): { readonly stream: KeptStream; readonly ended: Promise<void> } {
    const stream = new KeptStream(facts, memory, limits.streamBytes);
    this.#streams.set(facts.requestId, stream);
    let own = this.#byAccount.get(facts.accountId);
    if (own === undefined) this.#byAccount.set(facts.accountId, own = new Map());
    own.set(facts.requestId, stream);
    const ended = this.#readAll(stream, body, limits).then(() => {
      this.clock.after(limits.keepMs, () => this.#remove(stream));
    });
    return { stream, ended };
  }

  /** Returns a stream of an account; null if there is none. */
  find(accountId: string, requestId: string): KeptStream | null {
    const stream = this.#streams.get(requestId);
    return stream?.facts.accountId === accountId ? stream : null;
  }

  /** Removes all streams of an account. Returns their number. */
  removeAccount(accountId: string): number {
    const own = [...this.#byAccount.get(accountId)?.values() ?? []];
    for (const stream of own) this.#remove(stream);
    return own.length;
  }

  async #readAll(
    stream: KeptStream,
    body: ReadableStream<Uint8Array<ArrayBuffer>>,
    limits: StreamLimits,
  ): Promise<void> {
    const splitter = new EventSplitter();
    try {
      for await (const chunk of body) {
        // The relay has spent this turn on the same bytes.
        if (chunk.length > MAX_TURN_BYTES) await nextTurn();
        for (const block of splitter.push(chunk)) stream.add(block);
        this.#limit(stream, limits);
      }
      for (const block of splitter.end()) stream.add(block);
      stream.end();
    } catch {
      stream.break(); // the relay has reported the failure
    }
  }

  /** Removes the oldest streams of the account that have ended, then the oldest events of this one. */
  #limit(stream: KeptStream, { accountBytes }: StreamLimits): void {
    const own = this.#byAccount.get(stream.facts.accountId);
    if (own === undefined) return;
    let bytes = 0;
    for (const each of own.values()) bytes += each.bytes;
    for (const each of own.values()) {
      if (bytes <= accountBytes) return;
      if (!each.isOver) continue;
      bytes -= each.bytes;
      this.#remove(each);
    }
    if (bytes > accountBytes) stream.shrinkTo(Math.max(0, stream.bytes - (bytes - accountBytes)));
  }

  #remove(stream: KeptStream): void {
    const { accountId, requestId } = stream.facts;
    if (this.#streams.get(requestId) !== stream) return;
    this.#streams.delete(requestId);
    const own = this.#byAccount.get(accountId);
    own?.delete(requestId);
    if (own?.size === 0) this.#byAccount.delete(accountId);
    stream.remove();
  }
}
