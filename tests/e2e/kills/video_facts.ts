import type { VideoOrder } from "./video_orders.ts";

/** A task as its caller was told of it. */
export interface ToldTask {
  readonly id: string;
  readonly status: string;
  readonly model: string;
  readonly metadata: { readonly number: string };
  readonly usage: { readonly video_seconds: number; readonly video_cost: string };
  readonly error?: { readonly code: string } | null;
  readonly mirror_urls?: readonly string[];
}

/** What was known of a task when it was asked about. */
export interface KnownTask {
  /** Undefined while it may be pending. */
  readonly end: string | undefined;
  readonly isPurged: boolean;
}

/**
 * What callers and receivers were told for certain, over all lives of the gateway. What cannot be true of what was told
 * before is kept as a contradiction.
 */
export class VideoFacts {
  readonly orders = new Map<number, VideoOrder>();
  /** Ids that creates were answered with, by the number of the order. */
  readonly created = new Map<number, Set<string>>();
  /** How each task ended, in the words of the first that told. */
  readonly ends = new Map<string, string>();
  /** Tasks whose removal was asked for, and whether that was confirmed. */
  readonly purges = new Map<string, boolean>();
  /** Bodies of events by their idempotency key, and those that the receiver took. */
  readonly events = new Map<string, Set<string>>();
  readonly taken = new Set<string>();
  /** Tasks that are kept no longer, and those that are kept without their files. */
  readonly outdated = new Set<string>();
  readonly withoutFiles = new Set<string>();
  readonly contradictions: string[] = [];

  get ids(): string[] {
    return [...this.created.values()].flatMap((ids) => [...ids]);
  }

  /** Orders whose create was not answered yet. */
  unanswered(): VideoOrder[] {
    return [...this.orders.values()].filter(({ number }) => !this.created.has(number));
  }

  /** A create was answered with 202. */
  noteCreated({ number }: VideoOrder, id: string): void {
    this.created.set(number, (this.created.get(number) ?? new Set()).add(id));
  }

  /** What is known of a task as it is asked about; the answer may be older than what others are told meanwhile. */
  knownOf(id: string): KnownTask {
    return { end: this.ends.get(id), isPurged: this.purges.get(id) === true };
  }

  /** A task was shown, by whatever way, to somebody who asked when this was known. */
  noteTask({ id, status, usage, error }: ToldTask, { end, isPurged }: KnownTask): void {
    if (isPurged) this.contradictions.push(`${id} is ${status} after it was removed`);
    const now = status === "pending" ? status : `${status} for ${usage.video_cost} (${error?.code ?? "no error"})`;
    const before = status === "pending" ? end : this.ends.get(id);
    if (before !== undefined && before !== now) this.contradictions.push(`${id} was ${before} and is ${now}`);
    else if (status !== "pending") this.ends.set(id, now);
  }

  /** A task was not found. */
  noteMissing(id: string): void {
    if (!this.purges.has(id)) this.contradictions.push(`${id} is gone, and nobody removed it`);
  }

  /** A removal is about to be asked for. */
  notePurge(id: string): void {
    if (!this.purges.has(id)) this.purges.set(id, false);
  }

  /** A removal was confirmed. */
  notePurged(id: string): void {
    this.purges.set(id, true);
  }

  /** An event came. */
  noteEvent(key: string, body: string, isTaken: boolean): void {
    this.events.set(key, (this.events.get(key) ?? new Set()).add(body));
    if (isTaken) this.taken.add(key);
  }
}
