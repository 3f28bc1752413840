import { createHash } from "node:crypto";
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import type { Clock } from "../lib/clock.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import { randomBase62 } from "../lib/ids.ts";

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
const TOKEN_CHARACTERS = 43;

/** A person who has signed in. */
export interface Session {
  /** The admin key or the API key. It is kept in memory only, and every request is authenticated by it again. */
  readonly key: string;
  /** Whether `key` is an admin key. */
  readonly isOperator: boolean;
  /** What a request that changes something must repeat in a header field. */
  readonly csrfToken: string;
  /** When the session ends at the latest, in Unix milliseconds. */
  readonly expiresAt: number;
}

interface KeptSession extends Session {
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
  usedAt: number;
  /** Called when it is removed. */
  readonly onEnd: Set<() => void>;
}

interface Link {
  readonly key: string;
  readonly endsAt: number;
}

/**
 * The sessions of the console, and the links that sign in once. Both are in memory: they end with the process. Tokens
 * are kept as hashes. One key cannot use up the sessions of others.
 */
export class ConsoleSessions {
  readonly #sessions = new Map<string, KeptSession>();
  /** The hashes of the tokens of each key, the oldest first. */
  readonly #byKey = new Map<string, Set<string>>();
  #sweptAt = 0;
  readonly #links = new Map<string, Link>();

  constructor(readonly clock: Clock) {}

  /**
   * Starts a session.
   *
   * @returns The session and its token, which only the browser keeps.
   * @throws {GatewayError} `overloaded` if there are too many sessions.
   */
  start({ key, isOperator }: Pick<Session, "key" | "isOperator">): { session: Session; token: string } {
    this.#removeEnded();
    this.#makePlace(key);
    const token = randomBase62(TOKEN_CHARACTERS);
    const at = this.clock.monotonicMs();
    const session: KeptSession = {
      key,
      isOperator,
      csrfToken: randomBase62(TOKEN_CHARACTERS),
      expiresAt: this.clock.now() + MAX_AGE_MS,
      startedAt: at,
      usedAt: at,
      onEnd: new Set(),
    };
    const hash = hashOf(token);
    this.#sessions.set(hash, session);
    this.#byKey.set(key, (this.#byKey.get(key) ?? new Set()).add(hash));
    return { session, token };
  }

  /** The session of a token; null if it has ended. Its idle time starts again. */
  find(token: string): Session | null {
    const hash = hashOf(token);
    const session = this.#sessions.get(hash);
    if (session === undefined) return null;
    if (this.#hasEnded(session)) {
      this.#remove(hash);
      return null;
    }
    session.usedAt = this.clock.monotonicMs();
    return session;
  }

  /**
   * Calls a function when the session of a token ends, at once if it has ended. A session that nobody uses ends when it
   * is next looked for.
   *
   * @returns A function that cancels this.
   */
  onEnd(token: string, callback: () => void): () => void {
    const session = this.#sessions.get(hashOf(token));
    if (session === undefined) callback();
    session?.onEnd.add(callback);
    return () => void session?.onEnd.delete(callback);
  }

  /** Ends the session of a token. */
  end(token: string): void {
    this.#remove(hashOf(token));
  }

  /** Creates a token that signs in once with a key, within 15 minutes. */
  createLink(key: string): string {
    const token = randomBase62(TOKEN_CHARACTERS);
    if (this.#links.size >= MAX_LINKS) this.#links.delete(this.#links.keys().next().value!);
    this.#links.set(hashOf(token), { key, endsAt: this.clock.monotonicMs() + LINK_LIFETIME_MS });
    return token;
  }

  /** The key of a link, which is then used up; null if it is unknown, used or too old. */
  useLink(token: string): string | null {
    const hash = hashOf(token);
    const link = this.#links.get(hash);
    this.#links.delete(hash);
    return link === undefined || this.clock.monotonicMs() >= link.endsAt ? null : link.key;
  }

  #hasEnded({ startedAt, usedAt }: KeptSession): boolean {
    const now = this.clock.monotonicMs();
    return now - usedAt >= IDLE_MS || now - startedAt >= MAX_AGE_MS;
  }

  #remove(hash: string): void {
    const session = this.#sessions.get(hash);
    if (session === undefined) return;
    this.#sessions.delete(hash);
    const own = this.#byKey.get(session.key);
    own?.delete(hash);
    if (own?.size === 0) this.#byKey.delete(session.key);
    for (const callback of session.onEnd) callback();
  }

  #removeEnded(): void {
    const now = this.clock.monotonicMs();
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    for (const [hash, session] of this.#sessions) if (this.#hasEnded(session)) this.#remove(hash);
  }

  #makePlace(key: string): void {
    const [oldest, ...others] = this.#byKey.get(key) ?? [];
    if (oldest !== undefined && others.length + 1 >= MAX_PER_KEY) this.#remove(oldest);
    if (this.#sessions.size < MAX_SESSIONS) return;
    throw new GatewayError("overloaded", "Cannot sign in: too many sessions are open", { retryAfterSeconds: 60 });
  }
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
