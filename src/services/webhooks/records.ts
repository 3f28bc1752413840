import {
  mergeCommits as joinedCommits,
  webhookSecretKey,
  type WebhookSecretRecord,
} from "../../money/billing/accounts/records.ts";
import { webhookSecretsIn } from "../../money/billing/accounts/webhook_secret.ts";
import { concatBytes } from "../../platform/lib/bytes/concat_bytes.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { mergeByTime, type TimeIndexEntry } from "../../platform/lib/basics/time_index_entry.ts";
import {
  type Commit,
  type Entry,
  type Job,
  type Key,
  MIN_STORE_LIMITS,
  type Store,
} from "../../platform/store/store.ts";
import { packDelivery, type StoredDelivery, unpackDelivery } from "./packed_delivery.ts";
import {
  type Delivery,
  DELIVERY_STATES,
  type DeliveryAttempt,
  type DeliveryState,
  type StoredBody,
} from "./delivery.ts";
import type { StoreTime } from "../../platform/store/store_time.ts";

/** Kind of the jobs that make delivery attempts; `ref` is the delivery's id. */
export const WEBHOOK_JOB = "webhook";

/** A delivery as read, with the version to check. */
export type DeliveryEntry = Entry<Delivery>;

/** Maximum size of a body inside its delivery's record, which is rewritten with each attempt. */
const MAX_WHOLE_RECORD_BYTES = 3 * 1024;
/**
 * Size of one piece of a longer body. Every store engine accepts values of this size, so records can be copied between
 * engines.
 */
const PIECE_BYTES = Math.floor(MIN_STORE_LIMITS.maxValueBytes * 0.8);

const deliveryKey = (id: string): Key => ["webhook", "delivery", id];
const pieceKey = (id: string, piece: number): Key => ["webhook", "body", id, piece];
/** Index of the notifications about an account, for its erasure. */
const notificationsOf = (subject: string): Key => ["webhook", "notification", subject];
const attemptsOf = (id: string): Key => ["webhook", "attempt", id];
const attemptKey = (id: string, number: number): Key => [...attemptsOf(id), number];
/** Index of deliveries by state, in order of their events. */
const timeline = (state: DeliveryState): Key => ["webhook", "time", state];
const timelineKey = (
  state: DeliveryState,
  { createdAt, id }: DeliveryIndexEntry,
): Key => [...timeline(state), createdAt, id];

/** Adds a new delivery, its body and the job of its first attempt to a commit. */
export function addDelivery(commit: Commit, about: Omit<Delivery, "body">, body: Uint8Array): Commit {
  const { stored, pieces } = storedBodyOf(body);
  const delivery: Delivery = { ...about, body: stored };
  const { id, createdAt, state, subject } = delivery;
  return joinedCommits(commit, {
    check: [{ key: deliveryKey(id), version: null }],
    set: [
      { key: deliveryKey(id), value: delivery },
      { key: timelineKey(state, delivery), value: true },
      ...subject === undefined ? [] : [{ key: [...notificationsOf(subject), id], value: true }],
      ...pieces.map((value, piece) => ({ key: pieceKey(id, piece), value })),
    ],
    addJobs: [{ kind: WEBHOOK_JOB, ref: id, dueAt: createdAt }],
  });
}

/** Returns how a body is stored: inside a record, or as pieces beside it. */
export function storedBodyOf(body: Uint8Array): {
  readonly stored: StoredBody;
  readonly pieces: readonly Uint8Array<ArrayBuffer>[];
} {
  const bytes = body.length;
  if (bytes <= MAX_WHOLE_RECORD_BYTES) return { stored: { bytes, whole: new Uint8Array(body) }, pieces: [] };
  const count = Math.ceil(bytes / PIECE_BYTES);
  const pieces = Array.from(
    { length: count },
    (_, piece) => new Uint8Array(body.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES)),
  );
  return { stored: { bytes, pieces: count }, pieces };
}

/** Adds a completed attempt to a commit: its record, the changed delivery and its job. */
export function addAttempt(
  commit: Commit,
  entry: DeliveryEntry,
  attempt: DeliveryAttempt,
  after: Delivery,
  job: Job,
): Commit {
  return joinedCommits(changeDelivery(commit, entry, after), {
    set: [{ key: attemptKey(after.id, attempt.number), value: attempt }],
    ...(after.nextAttemptAt === null
      ? { completeJobs: [job] }
      : { postponeJobs: [{ job, dueAt: after.nextAttemptAt, attempt: 0 }] }),
  });
}

/**
 * Adds the start of a new round to a commit. The commit fails with `conflict` if the delivery changed since it was
 * read.
 */
export function addNewRound(commit: Commit, entry: DeliveryEntry, after: Delivery, now: StoreTime): Commit {
  return joinedCommits(changeDelivery(commit, entry, after), {
    addJobs: [{ kind: WEBHOOK_JOB, ref: after.id, dueAt: now }],
  });
}

function changeDelivery(commit: Commit, { key, version, value: before }: DeliveryEntry, after: Delivery): Commit {
  const change = { check: [{ key, version }], set: [{ key, value: packDelivery(after) }] };
  if (before.state === after.state) return joinedCommits(commit, change);
  return joinedCommits(joinedCommits(commit, change), {
    delete: [timelineKey(before.state, before)],
    set: [{ key: timelineKey(after.state, after), value: true }],
  });
}

/** Maximum number of attempts that one commit removes. */
const MAX_REMOVED_ATTEMPTS = 300;

/**
 * Removes a delivered or exhausted delivery with its attempts and body. The last commit removes the delivery itself, so
 * the next call completes an interrupted removal.
 *
 * @param settledBefore Unix milliseconds: a delivery that ended then or later is not removed. Default: no limit.
 * @returns False if nothing was removed: the delivery does not exist, is pending, or ended too late.
 */
export async function removeEndedDelivery(store: Store, id: string, settledBefore = Infinity): Promise<boolean> {
  const entry = await readDelivery(store, id);
  if (!entry || !(entry.value.settledAt !== null && entry.value.settledAt < settledBefore)) return false;
  return await removeEntry(store, entry);
}

/** More lost races for one delivery indicate a programming error. */
const MAX_RACES = 8;

/**
 * Removes a delivery in any state with its attempts and body. The job of a pending one finds nothing when it is due,
 * and completes.
 *
 * @returns False if there was none.
 * @throws {GatewayError} `conflict` if it changes all the time.
 */
export async function removeDelivery(store: Store, id: string): Promise<boolean> {
  for (let race = 0; race < MAX_RACES; race++) {
    const entry = await readDelivery(store, id);
    if (entry === null) return false;
    if (await removeEntry(store, entry)) return true;
  }
  throw new GatewayError("conflict", "Cannot remove the delivery: too many concurrent changes");
}

/**
 * Removes the deliveries of the notifications about an account, to any receiver.
 *
 * @returns The number of those that were removed.
 */
export async function removeNotifications(store: Store, subject: string): Promise<number> {
  let removed = 0;
  let after: Key | undefined;
  do {
    const entries = await store.scan(notificationsOf(subject), { after, limit: MAX_REMOVED_ATTEMPTS });
    for (const { key } of entries) {
      if (await removeDelivery(store, String(key.at(-1)))) removed++;
    }
    after = entries[MAX_REMOVED_ATTEMPTS - 1]?.key;
  } while (after !== undefined);
  return removed;
}

/** Returns false if the delivery changed since it was read. */
async function removeEntry(store: Store, entry: DeliveryEntry): Promise<boolean> {
  const { key, version, value: { id, state, body, subject } } = entry;
  const check = [{ key, version }];
  for (;;) {
    const attempts = (await store.scan(attemptsOf(id), { limit: MAX_REMOVED_ATTEMPTS })).map((attempt) => attempt.key);
    if (attempts.length === MAX_REMOVED_ATTEMPTS) {
      if (!(await store.commit(null, { check, delete: attempts })).ok) return false;
      continue;
    }
    const index = subject === undefined ? [] : [[...notificationsOf(subject), id]];
    const rest = [key, timelineKey(state, entry.value), ...index, ...pieceKeys(id, body), ...attempts];
    return (await store.commit(null, { check, delete: rest })).ok;
  }
}

/** Reads a delivery; null if there is none, or none yet. */
export async function readDelivery(store: Store, id: string): Promise<DeliveryEntry | null> {
  const [entry = null] = await store.get<StoredDelivery>([deliveryKey(id)]);
  return entry && { ...entry, value: unpackDelivery(entry.value) };
}

/** The stored parts of a delivery's request. */
export interface DeliveryMessage {
  /** Exactly the bytes that were rendered. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Signing secrets, the current one first; empty if the account does not exist. */
  readonly secrets: readonly string[];
}

/**
 * Reads the parts of a request other than the delivery, in one read.
 *
 * @param keyOf Key of a piece of the body. Default: beside the delivery.
 */
export async function readMessage(
  store: Store,
  { id, account, body }: Pick<Delivery, "id" | "account" | "body">,
  keyOf: (id: string, piece: number) => Key = pieceKey,
): Promise<DeliveryMessage> {
  const keys = [webhookSecretKey(account), ...pieceKeys(id, body, keyOf)];
  const [secret = null, ...pieces] = await store.get<WebhookSecretRecord | Uint8Array>(keys);
  const secrets = webhookSecretsIn(secret && secret.value as WebhookSecretRecord, store.now());
  if ("whole" in body) return { body: body.whole, secrets };
  const whole = concatBytes(pieces.flatMap((piece) => piece ? [piece.value as Uint8Array] : []));
  if (whole.length !== body.bytes) throw new Error(`The stored body of event ${id} is incomplete`);
  return { body: whole, secrets };
}

function pieceKeys(id: string, body: StoredBody, keyOf = pieceKey): Key[] {
  return "whole" in body ? [] : Array.from({ length: body.pieces }, (_, piece) => keyOf(id, piece));
}

/** Reads the attempts of a delivery, oldest first. */
export async function readAttempts(store: Store, id: string, limit: number): Promise<DeliveryAttempt[]> {
  const entries = await store.scan<DeliveryAttempt>(attemptsOf(id), { limit, reverse: true });
  return entries.map(({ value }) => value).reverse();
}

/** Filter for a list of deliveries. */
export interface DeliveryRange {
  /** Null for every state. */
  readonly state: DeliveryState | null;
  /** Time of the event in Unix milliseconds; `from` is inclusive, `to` exclusive. */
  readonly from: number;
  readonly to: number;
}

/** A position in the index, after one delivery. */
export type DeliveryIndexEntry = TimeIndexEntry;

/**
 * Returns the deliveries of a range in order of their events, newest first with `reverse`.
 *
 * @param page `after`: the position to continue after; null for the first page.
 */
export async function scanDeliveries(
  store: Store,
  { state, from, to }: DeliveryRange,
  { after, limit, reverse }: {
    readonly after: DeliveryIndexEntry | null;
    readonly limit: number;
    readonly reverse: boolean;
  },
): Promise<Delivery[]> {
  const start = after ?? { createdAt: reverse ? to : from, id: "" };
  const scan = async (of: DeliveryState): Promise<DeliveryIndexEntry[]> => {
    const entries = await store.scan(timeline(of), { after: timelineKey(of, start), limit, reverse });
    return entries.map(({ key }) => ({ createdAt: Number(key.at(-2)), id: String(key.at(-1)) }));
  };
  const [first, ...others]: readonly [DeliveryState, ...DeliveryState[]] = state === null ? DELIVERY_STATES : [state];
  // Deliveries change from `pending` to the other states. Reading in this order can return one twice, but misses none.
  const lists = [await scan(first), ...await Promise.all(others.map(scan))];
  const selected = mergeByTime(lists.flat(), reverse).slice(0, limit)
    .filter(({ createdAt }) => createdAt >= from && createdAt < to);
  if (selected.length === 0) return [];
  const entries = await store.get<StoredDelivery>(selected.map(({ id }) => deliveryKey(id)));
  return entries.flatMap((entry) => entry ? [unpackDelivery(entry.value)] : []);
}
