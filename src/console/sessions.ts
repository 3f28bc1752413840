import { createHash } from "node:crypto";
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import type { Clock } from "../platform/lib/basics/clock.ts";
import { GatewayError } from "../platform/lib/basics/gateway_error.ts";
import { randomBase62 } from "../platform/lib/basics/ids.ts";
import { errorName, type Log } from "../platform/lib/basics/log.ts";
import type { Entry, Store } from "../platform/store/store.ts";
import { sessionKey, type StoredSession } from "./records.ts";
import { decryptSession, encryptSession, type Session } from "./session.ts";

/** A session ends when nothing was requested for this long. */
const IDLE_MS = 30 * 60_000;
/** A session ends this long after its start, even if it is in use. */
const MAX_AGE_MS = 12 * 3_600_000;
/** A further session of one key ends its oldest. */
const MAX_PER_KEY = 20;
const MAX_SESSIONS = 10_000;
/** Sessions that have ended are removed at most this often, because all of them are looked through. */
const SWEEP_MS = 60_000;
const LINK_LIFETIME_MS = 15 * 60_000;
const MAX_LINKS = 10;
/** A use is written at most this often. A process that did not see a later use ends the session this much too early. */
const USE_STORED_EVERY_MS = 60_000;
const TOKEN_CHARACTERS = 43;

/** The dependencies of {@linkcode ConsoleSessions}. */
export interface ConsoleSessionsParts {
  readonly store: Pick<Store, "get" | "commit" | "now">;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Pick<Log, "warn">;
}

/** A session that this process has started or found. */
interface KnownSession {
  readonly session: Session;
  /** Unix milliseconds by the clock of the store. */
  usedAt: number;
  /** Whether the store has it. A session that could not be stored ends with the process. */
  readonly isStored: boolean;
  /** Called when it is removed. */
  readonly onEnd: Set<() => void>;
}

interface Link {
  readonly key: string;
  readonly endsAt: number;
}

/**
 * The sessions of the console, and the links that sign in once. Links end with the process. Sessions are in the store,
 * so that they survive a restart, and every gateway on the store has them. The store has the hash of a token, and the
 * session encrypted with a key that is derived from the token, which only the browser keeps: a copy of the store
 * reveals no key, and signs nobody in. One key cannot use up the sessions of others.
 */
export class ConsoleSessions {
  readonly #known = new Map<string, KnownSession>();
  /** The hashes of the tokens of each key, the oldest first. */
  readonly #byKey = new Map<string, Set<string>>();
  #sweptAt = 0;
  readonly #links = new Map<string, Link>();

  constructor(private readonly parts: ConsoleSessionsParts) {}

  /**
   * Starts a session. If it cannot be stored, it ends with the process.
   *
   * @returns The session and its token, which only the browser keeps.
   * @throws {GatewayError} `overloaded` if there are too many sessions.
   */
  async start({ key, isOperator }: Pick<Session, "key" | "isOperator">): Promise<{ session: Session; token: string }> {
    const { store, log } = this.parts;
    this.#forgetEnded();
    await this.#makePlace(key);
    const token = randomBase62(TOKEN_CHARACTERS);
    const hash = hashOf(token);
    const usedAt = store.now();
    const session: Session = {
      key,
      isOperator,
      csrfToken: randomBase62(TOKEN_CHARACTERS),
      expiresAt: usedAt + MAX_AGE_MS,
    };
    const encrypted = encryptSession(session, token, hash);
    let isStored = true;
    try {
      await store.commit(null, { set: [entryOf(hash, { encrypted, usedAt }, session)] });
    } catch (error) {
      log.warn("console_session_not_stored", { reason: errorName(error) });
      isStored = false;
    }
    this.#remember(hash, { session, usedAt, isStored, onEnd: new Set() });
    return { session, token };
  }

  /**
   * The session of a token; null if it has ended. Its idle time starts again.
   *
   * @throws What the store throws, for a session that this process has not found before.
   */
  async find(token: string): Promise<Session | null> {
    const { store } = this.parts;
    const hash = hashOf(token);
    const stored = await this.#read(hash);
    const known = this.#known.get(hash) ?? this.#open(hash, token, stored);
    // A session that the store had, and has no more, was ended here or by another gateway.
    if (known === null || (known.isStored && stored === "absent")) {
      this.#forget(hash);
      return null;
    }
    const now = store.now();
    if (typeof stored === "object") known.usedAt = Math.max(known.usedAt, stored.value.usedAt);
    if (hasEnded(known, now)) {
      await this.#drop(hash);
      return null;
    }
    known.usedAt = now;
    if (typeof stored === "object") await this.#writeUse(hash, stored, known);
    return known.session;
  }

  /**
   * Calls a function when the session of a token ends, immediately if it has ended. A session that nobody uses, and one
   * that another gateway ends, ends when it is next looked for.
   *
   * @returns A function that cancels this.
   */
  onEnd(token: string, callback: () => void): () => void {
    const known = this.#known.get(hashOf(token));
    if (known === undefined) callback();
    known?.onEnd.add(callback);
    return () => void known?.onEnd.delete(callback);
  }

  /**
   * Ends the session of a token because its holder wants that, at every gateway on the store.
   *
   * @throws What the store throws. The session has not ended then.
   */
  async end(token: string): Promise<void> {
    await this.#remove(hashOf(token));
  }

  /** Ends a session that nobody can use any more. If the store cannot be written, its entry expires by itself. */
  async drop(token: string): Promise<void> {
    await this.#drop(hashOf(token));
  }

  /** Creates a token that signs in once with a key, within 15 minutes. */
  createLink(key: string): string {
    const token = randomBase62(TOKEN_CHARACTERS);
    if (this.#links.size >= MAX_LINKS) this.#links.delete(this.#links.keys().next().value!);
    this.#links.set(hashOf(token), { key, endsAt: this.parts.clock.monotonicMs() + LINK_LIFETIME_MS });
    return token;
  }

  /** The key of a link, which is then used up; null if it is unknown, used or too old. */
  useLink(token: string): string | null {
    const hash = hashOf(token);
    const link = this.#links.get(hash);
    this.#links.delete(hash);
    return link === undefined || this.parts.clock.monotonicMs() >= link.endsAt ? null : link.key;
  }

  /** While the store cannot be read, the sessions that this process knows go on. */
  async #read(hash: string): Promise<Entry<StoredSession> | "absent" | "unread"> {
    try {
      const [entry = null] = await this.parts.store.get<StoredSession>([sessionKey(hash)]);
      return entry ?? "absent";
    } catch (error) {
      if (!this.#known.has(hash)) throw error;
      return "unread";
    }
  }

  /** A session that another process has started; null if the token does not fit to what is stored. */
  #open(hash: string, token: string, stored: Entry<StoredSession> | "absent" | "unread"): KnownSession | null {
    if (typeof stored !== "object") return null;
    const { encrypted, usedAt } = stored.value;
    const session = decryptSession(encrypted, token, hash);
    if (session === null) return null;
    // Two requests can open it at the same time.
    return this.#known.get(hash) ?? this.#remember(hash, { session, usedAt, isStored: true, onEnd: new Set() });
  }

  #remember(hash: string, known: KnownSession): KnownSession {
    const { key } = known.session;
    this.#known.set(hash, known);
    this.#byKey.set(key, (this.#byKey.get(key) ?? new Set()).add(hash));
    return known;
  }

  /** Stores a use, at most once a minute. A session that was ended meanwhile stays ended. */
  async #writeUse(hash: string, { key, value, version }: Entry<StoredSession>, known: KnownSession): Promise<void> {
    const { store, log } = this.parts;
    if (known.usedAt - value.usedAt < USE_STORED_EVERY_MS) return;
    const used = entryOf(hash, { ...value, usedAt: known.usedAt }, known.session);
    try {
      await store.commit(null, { check: [{ key, version }], set: [used] });
    } catch (error) {
      log.warn("console_session_not_stored", { reason: errorName(error) });
    }
  }

  async #remove(hash: string): Promise<void> {
    await this.parts.store.commit(null, { delete: [sessionKey(hash)] });
    this.#forget(hash);
  }

  async #drop(hash: string): Promise<void> {
    try {
      await this.#remove(hash);
    } catch (error) {
      this.parts.log.warn("console_session_not_removed", { reason: errorName(error) });
      this.#forget(hash);
    }
  }

  #forget(hash: string): void {
    const known = this.#known.get(hash);
    if (known === undefined) return;
    this.#known.delete(hash);
    const own = this.#byKey.get(known.session.key);
    own?.delete(hash);
    if (own?.size === 0) this.#byKey.delete(known.session.key);
    for (const callback of known.onEnd) callback();
  }

  /** The entries of the store expire by themselves. */
  #forgetEnded(): void {
    const { clock, store } = this.parts;
    const at = clock.monotonicMs();
    if (at - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = at;
    const now = store.now();
    for (const [hash, known] of this.#known) if (hasEnded(known, now)) this.#forget(hash);
  }

  async #makePlace(key: string): Promise<void> {
    const [oldest, ...others] = this.#byKey.get(key) ?? [];
    if (oldest !== undefined && others.length + 1 >= MAX_PER_KEY) await this.#drop(oldest);
    if (this.#known.size < MAX_SESSIONS) return;
    throw new GatewayError("overloaded", "Cannot sign in: too many sessions are open", { retryAfterSeconds: 60 });
  }
}

function hasEnded({ session, usedAt }: Pick<KnownSession, "session" | "usedAt">, now: number): boolean {
  return now - usedAt >= IDLE_MS || now >= session.expiresAt;
}

/** What a commit sets for a session. It expires after the session, which its reader decides to the millisecond. */
function entryOf(hash: string, value: StoredSession, { expiresAt }: Pick<Session, "expiresAt">) {
  const ttlMs = Math.min(IDLE_MS + USE_STORED_EVERY_MS, expiresAt - value.usedAt);
  return { key: sessionKey(hash), value, ttlMs };
}

/** Whether a request repeats the token of its session, compared in constant time. */
export function hasCsrfToken({ csrfToken }: Session, sent: string | null): boolean {
  return sent !== null && timingSafeEqual(hashBytes(sent), hashBytes(csrfToken));
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function hashBytes(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash("sha256").update(text).digest());
}
