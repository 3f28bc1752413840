import type { Clock } from "../lib/clock.ts";
import type { Connection } from "./http1/connection.ts";
import { IoBarrier } from "./io_barrier.ts";

/** Limits of idle connections. */
export interface IdleLimits {
  /** The maximum idle time. Default 4 s: the earliest servers, Node.js and uvicorn, close after 5 s. */
  readonly idleMs?: number;
  /** The maximum age. Default 60 s: names change their addresses and certificates are revoked. */
  readonly ageMs?: number;
  /** The maximum number of idle connections per host and port. Default 4. */
  readonly perHost?: number;
  /** The maximum number of idle connections in total. Default 512. */
  readonly total?: number;
}

/** An idle connection and its expiry. */
interface Idle {
  readonly connection: Connection;
  readonly since: number;
  readonly until: number;
}

const IDLE_MS = 4_000;
const AGE_MS = 60_000;
const PER_HOST = 4;
const IN_ALL = 512;
/**
 * Idle connections are closed this long before the server's own limit, so that it does not close one while a request is
 * sent.
 */
const MARGIN_MS = 1_000;

/**
 * A pool of idle connections. One leaves the pool when it is taken. It is closed when its time is over, when its peer
 * closes it or sends data, when it is the oldest of too many, or with the pool.
 */
export class IdleConnections {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #ageMs: number;
  readonly #perHost: number;
  readonly #inAll: number;
  /** Longest idle first. */
  readonly #all = new Set<Idle>();
  /** By host and port; longest idle first, no list empty. */
  readonly #byHost = new Map<string, Idle[]>();
  #stopTimer: (() => void) | null = null;
  #timerAt = Infinity;
  #isClosed = false;
  readonly #turns = new IoBarrier();

  /** Creates an empty pool. */
  constructor(
    clock: Clock,
    { idleMs = IDLE_MS, ageMs = AGE_MS, perHost = PER_HOST, total: inAll = IN_ALL }: IdleLimits = {},
  ) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#ageMs = ageMs;
    this.#perHost = perHost;
    this.#inAll = inAll;
  }

  /** The number of idle connections. */
  get size(): number {
    return this.#all.size;
  }

  /**
   * Like {@linkcode IdleConnections.take}, after all received data was delivered. A connection on which data arrived
   * has then been closed, even if the event loop was blocked.
   */
  async takeVerified(...wanted: Parameters<IdleConnections["take"]>): Promise<Connection | null> {
    const [isTls, host] = wanted;
    if (!this.#byHost.has(keyOf(isTls, host))) return null;
    await this.#turns.wait();
    return this.take(...wanted);
  }

  /**
   * Takes the most recently used connection; null if there is none.
   *
   * @param isTls Whether the connection is for https.
   * @param host As in an address, with the port unless it is the default one.
   * @param addresses The accepted peer addresses; null for any.
   */
  take(isTls: boolean, host: string, addresses: readonly string[] | null): Connection | null {
    const list = this.#byHost.get(keyOf(isTls, host));
    if (!list) return null;
    const now = this.#clock.now();
    const fits = ({ connection: { facts: { address } } }: Idle) =>
      addresses === null || (address !== null && addresses.includes(address));
    const idle = list.findLast((each) => !isOver(each, now) && fits(each));
    if (!idle) return null;
    this.#remove(idle);
    return idle.connection;
  }

  /**
   * Returns a connection to the pool after its last exchange is complete; closes it if it must not be reused.
   *
   * @param serverIdleMs How long the server keeps it, as stated in the response; null if not stated.
   */
  release(connection: Connection, serverIdleMs: number | null): void {
    const { openedAt } = connection.facts;
    const now = this.#clock.now();
    const idleMs = serverIdleMs === null ? this.#idleMs : Math.min(this.#idleMs, serverIdleMs - MARGIN_MS);
    const idle = { connection, since: now, until: Math.min(now + idleMs, openedAt + this.#ageMs) };
    if (this.#isClosed || connection.uploading || isOver(idle, now)) return connection.close();
    const list = this.#byHost.get(keyFor(idle));
    const [first] = list ?? [];
    if (list && first && list.length >= this.#perHost) this.#end(first);
    if (this.#all.size >= this.#inAll) { for (const oldest of this.#all.values().take(1)) this.#end(oldest); }
    this.#add(idle);
    connection.watchIdle(() => this.#end(idle));
  }

  /** Closes all connections, including those returned later. */
  close(): void {
    this.#isClosed = true;
    for (const idle of this.#all) this.#end(idle);
    this.#stopTimer?.();
    this.#stopTimer = null;
    this.#turns.close();
  }

  #add(idle: Idle): void {
    const key = keyFor(idle);
    const list = this.#byHost.get(key);
    if (list) list.push(idle);
    else this.#byHost.set(key, [idle]);
    this.#all.add(idle);
    if (idle.until < this.#timerAt) this.#wakeAt(idle.until);
  }

  #remove(idle: Idle): void {
    const key = keyFor(idle);
    const list = this.#byHost.get(key);
    if (!this.#all.delete(idle) || !list) return;
    if (list.length === 1) this.#byHost.delete(key);
    else list.splice(list.indexOf(idle), 1);
  }

  #end(idle: Idle): void {
    this.#remove(idle);
    idle.connection.close();
  }

  /** One timer for all connections, set to the earliest expiry. It is not moved when that connection is taken. */
  #wakeAt(at: number): void {
    this.#stopTimer?.();
    this.#timerAt = at;
    this.#stopTimer = this.#clock.after(Math.max(at - this.#clock.now(), 1), () => this.#closeThoseOver());
  }

  #closeThoseOver(): void {
    this.#timerAt = Infinity;
    this.#stopTimer = null;
    const now = this.#clock.now();
    let next = Infinity;
    for (const idle of this.#all) {
      if (isOver(idle, now)) this.#end(idle);
      else next = Math.min(next, idle.until);
    }
    if (next < Infinity) this.#wakeAt(next);
  }
}

function keyOf(isTls: boolean, host: string): string {
  return isTls ? host : `http://${host}`;
}

function keyFor({ connection: { facts } }: Idle): string {
  return keyOf(facts.origin.tls, facts.host);
}

/** Also true if the clock was set back, since the idle time is unknown then. */
function isOver({ since, until }: Idle, now: number): boolean {
  return now >= until || now < since;
}
