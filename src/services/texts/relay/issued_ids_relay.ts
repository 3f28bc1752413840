import { isPending, type MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { HeldMemory } from "../../../platform/lib/process/memory_budget.ts";
import type { Bytes, StreamTransform } from "../../calls/stream_relay.ts";
import { type IssuedId, type StatePolicy, statePolicyOf } from "../../../conversation/contract/issued_ids.ts";
import type { IssuedIdReader } from "../../../conversation/contract/pass_through.ts";
import { parsedOrNull } from "../../../conversation/neutral/wire_value.ts";
import { idOf } from "../../../vendors/upstreams/contract/provider.ts";
import type { TextAttempt, TextParts } from "../plan/attempt.ts";
import { framesIn, rejectManyValues } from "./stream_frames.ts";
import { textOfLatin1 } from "./stream_lines.ts";

/**
 * The maximum number of ids that are kept for one reply. Later ids have no owner. Each id is kept for weeks, so a
 * vendor must not be able to fill the store.
 */
export const MAX_IDS_PER_REPLY = 2_000;

/** A whole reply as JSON text and as a value. */
export interface ParsedReply {
  readonly text: string;
  readonly value: unknown;
}

/**
 * Returns the ids of a whole reply, at most {@linkcode MAX_IDS_PER_REPLY}.
 *
 * @param reply The reply as the vendor sent it.
 * @param reader Of the vendor's format; null if its replies have no ids.
 */
export function issuedIdsIn(
  { text, value }: ParsedReply,
  reader: IssuedIdReader | null,
  policy: StatePolicy,
): readonly IssuedId[] {
  if (reader === null || !reader.mayIssue(text, policy)) return [];
  return reader.issuedIn(value, policy).slice(0, MAX_IDS_PER_REPLY);
}

/**
 * Records the ids of a whole reply for the account that receives it. Returns a promise if there are any; it resolves
 * when the record is durable.
 */
export function keepIssuedIds(
  ids: readonly IssuedId[],
  attempt: TextAttempt,
  parts: IssuedIdsParts,
): MaybePromise<void> {
  if (ids.length > 0) return parts.vendorState.keep(ownerOf(attempt), ids);
}

/** Returns the relay for a passed-through stream. It keeps ids if the format has any. */
export function withIssuedIds(inner: TextRelay, attempt: TextAttempt, parts: IssuedIdsParts): StreamTransform {
  const reader = attempt.endpoint.passThrough?.issuedIds ?? null;
  return reader === null ? inner : new IssuedIdsRelay(inner, reader, attempt, parts);
}

/** A relay whose output is known as text. */
type TextRelay = StreamTransform & {
  /** The bytes that it returned last, as Latin-1. */
  readonly lastText: string;
};

type IssuedIdsParts = Pick<TextParts, "vendorState">;

/**
 * Holds back bytes with an id until the owner of the id is durable. Each id is written once, together with the others
 * in its bytes. All other bytes pass at once.
 */
class IssuedIdsRelay implements StreamTransform {
  readonly #policy: StatePolicy;
  readonly #kept = new Set<string>();

  constructor(
    readonly inner: TextRelay,
    readonly reader: IssuedIdReader,
    readonly attempt: TextAttempt,
    readonly parts: IssuedIdsParts,
  ) {
    this.#policy = statePolicyOf(attempt.request.body);
  }

  get finished(): boolean {
    return this.inner.finished;
  }

  get memory(): HeldMemory {
    return this.inner.memory;
  }

  get awaitsUsage(): boolean {
    return this.inner.awaitsUsage ?? false;
  }

  take(bytes: Uint8Array<ArrayBuffer>): MaybePromise<Bytes> {
    const taken = this.inner.take(bytes);
    return isPending(taken) ? taken.then(this.#hold) : this.#held(taken);
  }

  async end(): Promise<Bytes> {
    return await this.#held(await this.inner.end());
  }

  fail(thrown: unknown): Promise<Bytes> {
    return this.inner.fail(thrown);
  }

  onDisconnect(): void {
    this.inner.onDisconnect();
  }

  heartbeat(silentMs: number): Bytes {
    return this.inner.heartbeat(silentMs);
  }

  readonly #hold = (out: Bytes): MaybePromise<Bytes> => this.#held(out);

  #held(out: Bytes): MaybePromise<Bytes> {
    if (out === null) return null;
    const lines = this.inner.lastText;
    const ids = this.reader.mayIssue(lines, this.#policy) ? this.#newIn(textOfLatin1(lines)) : [];
    return ids.length === 0 ? out : this.parts.vendorState.keep(ownerOf(this.attempt), ids).then(() => out);
  }

  #newIn(text: string): IssuedId[] {
    const ids = framesIn(text).flatMap(({ data }) => {
      if (data === null || !this.reader.mayIssue(data, this.#policy)) return [];
      rejectManyValues(data);
      return this.reader.issuedIn(parsedOrNull(data), this.#policy);
    });
    return ids.filter(({ kind, id }) => {
      const name = `${kind} ${id}`;
      if (this.#kept.has(name) || this.#kept.size === MAX_IDS_PER_REPLY) return false;
      this.#kept.add(name);
      return true;
    });
  }
}

function ownerOf({ request, provider }: TextAttempt): { account: string; provider: string } {
  return { account: request.accountId, provider: idOf(provider) };
}
