import { readWebhookSecrets } from "../billing/webhook_secret.ts";
import type { Clock } from "../lib/clock.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import type { Commit, Store } from "../store/store.ts";
import { headersOf } from "./attempt.ts";
import type { EndedTask } from "../calls/ended_task.ts";
import { renderEnvelope } from "./envelope.ts";
import { addToFeed, type FeedRecord, feedRecordOf, readFeedMessage, scanFeed } from "./feed_records.ts";
import type { DeliveryMessage } from "./records.ts";

/** An event as its receiver would get it now. */
export interface FeedEvent extends Pick<FeedRecord, "id" | "account" | "status" | "url" | "createdAt"> {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Events from a place on. */
export interface FeedPage {
  /** In order. Those near the end of one page are in the next again. */
  readonly events: readonly FeedEvent[];
  /** Where to go on. */
  readonly next: number;
}

/**
 * The events of all accounts, with and without a callback address, for somebody who develops a receiver. Events are
 * kept for a minute, in the commits that end their tasks, and only while somebody listens: from a read of the feed for
 * half a minute.
 */
export interface EventFeed {
  /** Whether somebody listens. */
  readonly isHeard: boolean;
  /** Joins an event to its terminal commit while somebody listens. */
  note(commit: Commit, ended: EndedTask): Commit;
  /** @param from The `next` of the page before; null to begin with the next event. */
  read(from: number | null): Promise<FeedPage>;
  /**
   * Renders and signs an event that no task caused.
   *
   * @param isKept Whether it is put into the feed.
   * @throws {GatewayError} `not_found` when there is no such account.
   */
  make(ended: EndedTask, isKept: boolean): Promise<FeedEvent>;
}

const LISTENING_MS = 30_000;
/**
 * Commits can become visible a little out of their order: a page begins so much before the end of the one before it.
 */
const OVERLAP_MS = 5_000;
const PAGE = 100;

/** Opens the feed of a store. */
export function openEventFeed(store: Store, clock: Clock): EventFeed {
  let heardUntilMs = -Infinity;
  let lastPlace = 0;
  const place = () => lastPlace = Math.max(lastPlace + 1, clock.now()); // rises also when the clock is set back
  const isHeard = () => clock.monotonicMs() < heardUntilMs;

  async function eventOf(record: FeedRecord): Promise<FeedEvent | null> {
    const message = await readFeedMessage(store, record);
    const isSigned = message !== null && message.secrets.length > 0;
    return isSigned ? feedEventOf(record, message, store.now()) : null;
  }

  return {
    get isHeard() {
      return isHeard();
    },
    note(commit, ended) {
      if (!isHeard()) return commit;
      return addToFeed(commit, place(), ended, ended.callbackUrl === null ? renderEnvelope(ended) : null);
    },
    async read(from) {
      heardUntilMs = clock.monotonicMs() + LISTENING_MS;
      const now = place();
      if (from === null) return { events: [], next: now };
      const entries = await scanFeed(store, from, PAGE);
      const events = await Promise.all(entries.map(({ record }) => eventOf(record)));
      const next = entries[PAGE - 1]?.at ?? Math.max(Math.min(from, now), now - OVERLAP_MS);
      return { events: events.flatMap((event) => event ?? []), next };
    },
    async make(ended, isKept) {
      const secrets = await readWebhookSecrets(store, ended.account);
      if (secrets.length === 0) throw new GatewayError("not_found", "Cannot make the event: no such account");
      const body = renderEnvelope(ended);
      if (isKept) await store.commit(null, addToFeed({}, place(), ended, body));
      return feedEventOf(feedRecordOf(ended, null), { body, secrets }, store.now());
    },
  };
}

function feedEventOf(record: FeedRecord, { body, secrets }: DeliveryMessage, now: number): FeedEvent {
  const { id, account, status, url, createdAt } = record;
  const headers = headersOf(record, body, secrets, now);
  return { id, account, status, url, createdAt, headers, body: new TextDecoder().decode(body) };
}
