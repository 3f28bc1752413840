import { readWebhookSecrets } from "../../money/billing/accounts/webhook_secret.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import type { Commit, Store } from "../../platform/store/store.ts";
import { headersOf } from "./attempt.ts";
import type { EndedTask } from "./ended_task.ts";
import { renderEnvelope } from "./envelope.ts";
import { addToFeed, type FeedRecord, feedRecordOf, readFeedMessage, scanFeed } from "./feed_records.ts";
import type { DeliveryMessage } from "./records.ts";
import { missingAccount } from "../../money/billing/accounts/missing_account.ts";

/** An event as its receiver would get it now. */
export interface FeedEvent extends Pick<FeedRecord, "id" | "account" | "status" | "url" | "createdAt"> {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Events from a position onwards. */
export interface FeedPage {
  /** In order. Events near the end of a page appear again on the next page. */
  readonly events: readonly FeedEvent[];
  /** Position of the next page. */
  readonly next: number;
}

/**
 * The events of all accounts, with and without a callback address, for developing a receiver. Events are stored for one
 * minute in the commits that end their tasks. They are stored only for half a minute after a read of the feed.
 */
export interface EventFeed {
  /** Whether the feed was read in the last half minute. */
  readonly hasReaders: boolean;
  /** Adds an event to its terminal commit if the feed is being read. */
  addEvent(commit: Commit, ended: EndedTask): Commit;
  /**
   * Returns events from a position.
   *
   * @param from `next` of the previous page; null to start with the next event.
   */
  read(from: number | null): Promise<FeedPage>;
  /**
   * Renders and signs a test event that no task caused.
   *
   * @param isKept Whether the event is added to the feed.
   * @throws {GatewayError} `not_found` if the account does not exist.
   */
  createTestEvent(ended: EndedTask, isKept: boolean): Promise<FeedEvent>;
}

const LISTENING_MS = 30_000;
/** Overlap of consecutive pages, because commits can become visible slightly out of order. */
const OVERLAP_MS = 5_000;
const PAGE = 100;

/** Opens the event feed of a store. */
export function openEventFeed(store: Store, clock: Clock): EventFeed {
  let activeUntilMs = -Infinity;
  let lastPosition = 0;
  // Increases even if the clock moves backwards.
  const nextPosition = () => lastPosition = Math.max(lastPosition + 1, store.now());
  const isHeard = () => clock.monotonicMs() < activeUntilMs;

  async function eventOf(record: FeedRecord): Promise<FeedEvent | null> {
    const message = await readFeedMessage(store, record);
    const isSigned = message !== null && message.secrets.length > 0;
    return isSigned ? feedEventOf(record, message, store.now()) : null;
  }

  return {
    get hasReaders() {
      return isHeard();
    },
    addEvent(commit, ended) {
      if (!isHeard()) return commit;
      return addToFeed(commit, nextPosition(), ended, ended.callbackUrl === null ? renderEnvelope(ended) : null);
    },
    async read(from) {
      activeUntilMs = clock.monotonicMs() + LISTENING_MS;
      const now = nextPosition();
      if (from === null) return { events: [], next: now };
      const entries = await scanFeed(store, from, PAGE);
      const events = await Promise.all(entries.map(({ record }) => eventOf(record)));
      const next = entries[PAGE - 1]?.at ?? Math.max(Math.min(from, now), now - OVERLAP_MS);
      return { events: events.flatMap((event) => event ?? []), next };
    },
    async createTestEvent(ended, isKept) {
      const secrets = await readWebhookSecrets(store, ended.account);
      if (secrets.length === 0) throw await missingAccount(store, ended.account);
      const body = renderEnvelope(ended);
      if (isKept) await store.commit(null, addToFeed({}, nextPosition(), ended, body));
      return feedEventOf(feedRecordOf(ended, null), { body, secrets }, store.now());
    },
  };
}

function feedEventOf(record: FeedRecord, { body, secrets }: DeliveryMessage, now: number): FeedEvent {
  const { id, account, status, url, createdAt } = record;
  const headers = headersOf(record, body, secrets, now);
  return { id, account, status, url, createdAt, headers, body: new TextDecoder().decode(body) };
}
