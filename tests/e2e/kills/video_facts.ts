import type { VideoOrder } from "./video_orders.ts";

/** A task as returned to its caller. */
export interface ReportedTask {
  readonly id: string;
  readonly status: string;
  readonly model: string;
  readonly metadata: { readonly number: string };
  readonly usage: { readonly video_seconds: number; readonly video_cost: string };
  readonly error?: { readonly code: string } | null;
  readonly mirror_urls?: readonly string[];
  readonly thumbnail_mirror_url?: string;
  readonly last_frame_mirror_url?: string;
}

/** What was known of a task before a request about it. */
export interface KnownTask {
  /** Undefined while it may be pending. */
  readonly end: string | undefined;
  readonly isPurged: boolean;
}

/** The responses and events received over all runs of the gateway. Contradictions between them are recorded. */
export class VideoFacts {
  readonly orders = new Map<number, VideoOrder>();
  /** Ids returned by creates, by the number of the order. */
  readonly created = new Map<number, Set<string>>();
  /** The first terminal status received for each task. */
  readonly ends = new Map<string, string>();
  /** Tasks whose removal was requested, and whether it was confirmed. */
  readonly purges = new Map<string, boolean>();
  /** Bodies of events by their idempotency key, and the acknowledged ones. */
  readonly events = new Map<string, Set<string>>();
  readonly taken = new Set<string>();
  /** Tasks removed by retention, and tasks whose files were removed. */
  readonly outdated = new Set<string>();
  readonly withoutFiles = new Set<string>();
  readonly contradictions: string[] = [];

  get ids(): string[] {
    return [...this.created.values()].flatMap((ids) => [...ids]);
  }

  /** Returns orders whose create has no response yet. */
  ordersWithoutResponse(): VideoOrder[] {
    return [...this.orders.values()].filter(({ number }) => !this.created.has(number));
  }

  /** Records a create with status 202. */
  recordCreated({ number }: VideoOrder, id: string): void {
    this.created.set(number, (this.created.get(number) ?? new Set()).add(id));
  }

  /**
   * Returns what is known of a task before a request; the response may be older than responses to others meanwhile.
   */
  knownOf(id: string): KnownTask {
    return { end: this.ends.get(id), isPurged: this.purges.get(id) === true };
  }

  /** Records a task returned by a request made when this was known. */
  recordTask({ id, status, usage, error }: ReportedTask, { end, isPurged }: KnownTask): void {
    if (isPurged) this.contradictions.push(`${id} is ${status} after it was removed`);
    const now = status === "pending" ? status : `${status} for ${usage.video_cost} (${error?.code ?? "no error"})`;
    const before = status === "pending" ? end : this.ends.get(id);
    if (before !== undefined && before !== now) this.contradictions.push(`${id} was ${before} and is ${now}`);
    else if (status !== "pending") this.ends.set(id, now);
  }

  /** Records that a task was not found. */
  recordMissing(id: string): void {
    if (!this.purges.has(id)) this.contradictions.push(`${id} is gone, and nobody removed it`);
  }

  /** Records that a removal is about to be requested. */
  recordPurgeRequest(id: string): void {
    if (!this.purges.has(id)) this.purges.set(id, false);
  }

  /** Records that a removal was confirmed. */
  recordPurged(id: string): void {
    this.purges.set(id, true);
  }

  /** Records an event. */
  recordEvent(key: string, body: string, isTaken: boolean): void {
    this.events.set(key, (this.events.get(key) ?? new Set()).add(body));
    if (isTaken) this.taken.add(key);
  }
}
