import { mergeCommits } from "../../money/billing/accounts/records.ts";
import type { Commit, Key, Store } from "../../platform/store/store.ts";
import type { StoredBody } from "./delivery.ts";
import type { EndedTask, TerminalStatus } from "./ended_task.ts";
import { type DeliveryMessage, readDelivery, readMessage, storedBodyOf } from "./records.ts";

/** An event stored for readers of the feed. */
export interface FeedRecord {
  /** The task's id. */
  readonly id: string;
  readonly account: string;
  readonly status: TerminalStatus;
  /** Callback address; null if the task has none. */
  readonly url: string | null;
  /** Time of the event in Unix milliseconds. */
  readonly createdAt: number;
  /** Null if the body is stored with the event's delivery. */
  readonly body: StoredBody | null;
}

/** An event with its position in the feed. */
export interface FeedEntry {
  readonly at: number;
  readonly record: FeedRecord;
}

/** How long an event can be read. */
const KEPT_MS = 60_000;

const FEED: Key = ["webhook", "feed"];
const pieceKey = (id: string, piece: number): Key => ["webhook", "feed_body", id, piece];

/** Returns the feed record of an event. @param body Null if it is stored elsewhere. */
export function feedRecordOf(ended: EndedTask, body: StoredBody | null): FeedRecord {
  const { taskId: id, account, status, callbackUrl: url, endedAt: createdAt } = ended;
  return { id, account, status, url, createdAt, body };
}

/**
 * Adds an event of the feed to a commit.
 *
 * @param at Position in the feed.
 * @param body Null if a delivery in the same commit has it.
 */
export function addToFeed(commit: Commit, at: number, ended: EndedTask, body: Uint8Array | null): Commit {
  const { stored, pieces } = body === null ? { stored: null, pieces: [] } : storedBodyOf(body);
  const id = ended.taskId;
  return mergeCommits(commit, {
    set: [
      { key: [...FEED, at, id], value: feedRecordOf(ended, stored), ttlMs: KEPT_MS },
      ...pieces.map((value, piece) => ({ key: pieceKey(id, piece), value, ttlMs: KEPT_MS })),
    ],
  });
}

/** Returns events from a position, in order. */
export async function scanFeed(store: Store, from: number, limit: number): Promise<FeedEntry[]> {
  const entries = await store.scan<FeedRecord>(FEED, { after: [...FEED, from], limit });
  return entries.map(({ key, value }) => ({ at: Number(key.at(-2)), record: value }));
}

/** Returns the body of an event and its signing secrets; null if its delivery was removed meanwhile. */
export async function readFeedMessage(
  store: Store,
  { id, account, body }: FeedRecord,
): Promise<DeliveryMessage | null> {
  if (body !== null) return await readMessage(store, { id, account, body }, pieceKey);
  const delivery = await readDelivery(store, id);
  return delivery && await readMessage(store, delivery.value);
}

const PAGE = 100;

/** Removes the events of an account from the feed, a commit for each. */
export async function removeFromFeed(store: Store, account: string): Promise<void> {
  let after: Key | undefined;
  do {
    const entries = await store.scan<FeedRecord>(FEED, { after, limit: PAGE });
    for (const { key, value: { id, body, account: owner } } of entries) {
      if (owner !== account) continue;
      const pieces = body === null || "whole" in body ? 0 : body.pieces;
      const bodies = Array.from({ length: pieces }, (_, piece) => pieceKey(id, piece));
      await store.commit(null, { delete: [key, ...bodies] });
    }
    after = entries[PAGE - 1]?.key;
  } while (after !== undefined);
}
