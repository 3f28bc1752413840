import type { Clock } from "../lib/basics/clock.ts";
import type { Connection, IdleOwner } from "./http1/connection.ts";
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
  /** By host and port; longest idle first. Empty lists stay until the timer runs, since most are filled again soon. */
  readonly #https = new Map<string, Idle[]>();
  readonly #http = new Map<string, Idle[]>();
  #size = 0;
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
    return this.#size;
  }

  /**
   * Resolves when all received data was delivered, so that {@linkcode IdleConnections.take} can be called at once. A
   * connection on which data arrived has then been closed, even if the event loop was blocked. Null if there is nothing
   * to wait for.
   */
  verified(isTls: boolean, host: string): Promise<void> | null {
    const list = this.#listsOf(isTls).get(host);
    return list === undefined || list.length === 0 ? null : this.#turns.wait();
  }

  /**
   * Takes the most recently used connection; null if there is none.
   *
   * @param isTls Whether the connection is for https.
   * @param host As in an address, with the port unless it is the default one.
   * @param addresses The accepted peer addresses; null for any.
   */
  take(isTls: boolean, host: string, addresses: readonly string[] | null): Connection | null {
    const list = this.#listsOf(isTls).get(host);
    if (list === undefined) return null;
    const now = this.#clock.now();
    for (let at = list.length - 1; at >= 0; at--) {
      const idle = list[at];
      if (idle === undefined || isOver(idle, now) || !fits(idle.connection, addresses)) continue;
      this.#removeAt(list, at);
      return idle.connection;
    }
    return null;
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
    const until = Math.min(now + idleMs, openedAt + this.#ageMs);
    if (this.#isClosed || connection.uploading || now >= until) return connection.close();
    const list = this.#listOf(connection);
    const idle = new Idle(connection, now, until, this.#onIdleEnd);
    if (list.length >= this.#perHost) this.#end(list[0]);
    if (this.#size >= this.#inAll) this.#end(this.#oldest());
    list.push(idle);
    this.#size++;
    if (until < this.#timerAt) this.#wakeAt(until);
    connection.watchIdle(idle);
  }

  /** Closes all connections, including those returned later. */
  close(): void {
    this.#isClosed = true;
    for (const idle of this.#all()) this.#end(idle);
    this.#stopTimer?.();
    this.#stopTimer = null;
    this.#turns.close();
  }

  #listsOf(isTls: boolean): Map<string, Idle[]> {
    return isTls ? this.#https : this.#http;
  }

  #listOf({ facts: { origin, host } }: Connection): Idle[] {
    const lists = this.#listsOf(origin.tls);
    let list = lists.get(host);
    if (list === undefined) lists.set(host, list = []);
    return list;
  }

  #all(): Idle[] {
    return [...this.#https.values(), ...this.#http.values()].flat();
  }

  /** The one that is idle for the longest time. */
  #oldest(): Idle | undefined {
    let oldest: Idle | undefined;
    for (const lists of [this.#https, this.#http]) {
      for (const [first] of lists.values()) {
        if (oldest === undefined || (first !== undefined && first.since < oldest.since)) oldest = first;
      }
    }
    return oldest;
  }

  #removeAt(list: Idle[], at: number): void {
    this.#size--;
    if (at === list.length - 1) list.pop();
    else list.splice(at, 1);
  }

  /** Bound, since each idle connection refers to it. */
  readonly #onIdleEnd = (idle: Idle): void => this.#end(idle);

  #end(idle: Idle | undefined): void {
    if (idle === undefined) return;
    const list = this.#listOf(idle.connection);
    const at = list.indexOf(idle);
    if (at !== -1) this.#removeAt(list, at);
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
    for (const idle of this.#all()) {
      if (isOver(idle, now)) this.#end(idle);
      else next = Math.min(next, idle.until);
    }
    for (const lists of [this.#https, this.#http]) {
      for (const [host, list] of lists) if (list.length === 0) lists.delete(host);
    }
    if (next < Infinity) this.#wakeAt(next);
  }
}

/** An idle connection and its expiry. */
class Idle implements IdleOwner {
  constructor(
    readonly connection: Connection,
    readonly since: number,
    readonly until: number,
    readonly end: (idle: Idle) => void,
  ) {}

  onIdleEnd(): void {
    this.end(this);
  }
}

function fits({ facts: { address } }: Connection, addresses: readonly string[] | null): boolean {
  return addresses === null || (address !== null && addresses.includes(address));
}

/** Also true if the clock was set back, since the idle time is unknown then. */
function isOver({ since, until }: Idle, now: number): boolean {
  return now >= until || now < since;
}
