import type { Clock } from "../lib/clock.ts";
import type { Connection } from "./http1/connection.ts";
import { IoTurns } from "./io_turns.ts";

/** How long and how many connections are kept. */
export interface KeepLimits {
  /** Longest time without use. Default 4 s: the servers that close soonest, Node's and uvicorn's, do so after 5 s. */
  readonly idleMs?: number;
  /** Longest time from being opened. Default 60 s: names move, certificates are withdrawn. */
  readonly ageMs?: number;
  /** Most idle ones for one host and port. Default 4. */
  readonly perHost?: number;
  /** Most idle ones in all. Default 512. */
  readonly inAll?: number;
}

/** What rests, and until when. */
interface Idle {
  readonly connection: Connection;
  readonly since: number;
  readonly until: number;
}

const IDLE_MS = 4_000;
const AGE_MS = 60_000;
const PER_HOST = 4;
const IN_ALL = 512;
/** A server's own limit is undercut by this, so that it does not close just when a request goes out. */
const MARGIN_MS = 1_000;

/**
 * Connections that rest between two requests to the same host. One leaves by being taken, or is closed: when its time
 * is over, when its peer closes it or says something unasked, when it is the oldest of too many, or with all others at
 * the end.
 */
export class KeptConnections {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #ageMs: number;
  readonly #perHost: number;
  readonly #inAll: number;
  /** The longest idle first. */
  readonly #all = new Set<Idle>();
  /** By host and port; the longest idle first, no list empty. */
  readonly #byHost = new Map<string, Idle[]>();
  #stopTimer: (() => void) | null = null;
  #timerAt = Infinity;
  #isClosed = false;
  readonly #turns = new IoTurns();

  /** Begins with none. */
  constructor(clock: Clock, { idleMs = IDLE_MS, ageMs = AGE_MS, perHost = PER_HOST, inAll = IN_ALL }: KeepLimits = {}) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#ageMs = ageMs;
    this.#perHost = perHost;
    this.#inAll = inAll;
  }

  /** How many are kept now. */
  get size(): number {
    return this.#all.size;
  }

  /**
   * As {@linkcode KeptConnections.take}, after everything that has reached this process was delivered: so what came
   * over an idle connection has closed it, also when the event loop was held up.
   */
  async takeQuiet(...wanted: Parameters<KeptConnections["take"]>): Promise<Connection | null> {
    const [isTls, host] = wanted;
    if (!this.#byHost.has(keyOf(isTls, host))) return null;
    await this.#turns.turn();
    return this.take(...wanted);
  }

  /**
   * The one that was used last, for the caller alone; null when there is none.
   *
   * @param isTls Whether it is one for https.
   * @param host As it stands in an address, with the port where it is not the usual one.
   * @param addresses Where it may lead; null for anywhere.
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
   * Keeps one whose last exchange is over, body and all; closes it when it may not be kept.
   *
   * @param serverIdleMs How long its server keeps it, as told in the response; null when it does not tell.
   */
  keep(connection: Connection, serverIdleMs: number | null): void {
    const { openedAt } = connection.facts;
    const now = this.#clock.now();
    const idleMs = serverIdleMs === null ? this.#idleMs : Math.min(this.#idleMs, serverIdleMs - MARGIN_MS);
    const idle = { connection, since: now, until: Math.min(now + idleMs, openedAt + this.#ageMs) };
    if (this.#isClosed || connection.uploading || isOver(idle, now)) return connection.close();
    const list = this.#byHost.get(keyFor(idle));
    if (list && list.length >= this.#perHost) this.#end(list[0]);
    if (this.#all.size >= this.#inAll) { for (const oldest of this.#all.values().take(1)) this.#end(oldest); }
    this.#add(idle);
    connection.rest(() => this.#end(idle));
  }

  /** Closes all, and from now on whatever is to be kept. */
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

  /** One timer for all: set for the first to go, and left where it is when that one is taken. */
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

/** Also when the clock was set back: then nobody knows how long it has been idle. */
function isOver({ since, until }: Idle, now: number): boolean {
  return now >= until || now < since;
}
