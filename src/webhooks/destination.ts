/**
 * Who may be called now. Attempts go to hosts, and no host may stand in the way of another:
 *
 * - A host has at most 20 attempts at once, all hosts together 768.
 * - One whose last three attempts hung is called by one attempt at a time until one of them ends soon, whatever its answer.
 * - Who finds no place waits in a short line of its host. When a place falls free, the hosts with a line take turns.
 * - Who finds the line full is sent away with a time to come back: the job is put off, so that thousands that wait for one
 *   host are job records and nothing else. The times are spread by how fast the host gets through its attempts.
 */
export interface Destinations {
  /**
   * Asks for a place at a host. A place that was given is given back by {@linkcode Destinations.leave}.
   *
   * @param host With its port.
   * @throws The signal's reason, once it is aborted while waiting.
   */
  enter(host: string, signal: AbortSignal): Promise<Passage>;
  /**
   * Gives a place back.
   *
   * @param durationMs How long the attempt took; null when it did not come to an end.
   */
  leave(host: string, durationMs: number | null): void;
  /** Sends everybody away who waits, and who comes later, to come back at once: for the end of the process. */
  close(): void;
}

/** A place, or when to come back. */
export type Passage = { readonly granted: true } | { readonly granted: false; readonly untilMs: number };

/** Numbers that tests set; the defaults are those of {@linkcode Destinations}. */
export interface DestinationOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** From which duration on an attempt counts as one that hung. */
  readonly hungMs: number;
  readonly perHost?: number;
  readonly inAll?: number;
}

/** How many jobs may hold a place or stand in a line, in all. */
export const MOST_ADMITTED = 1_024;

const PER_HOST = 20;
const IN_ALL = 768;
/** In all lines together; the rest of {@linkcode MOST_ADMITTED} is for those who are sent away. */
const MOST_WAITING = 200;
/** How long the line of a host gets, in multiples of the places it has. */
const LINE_FACTOR = 5;
const HUNG_IN_A_ROW = 3;
const FIRST_GUESS_MS = 200;
const SHORTEST_AWAY_MS = 1_000;
const LONGEST_AWAY_MS = 600_000;
/** Hosts that are remembered while nothing goes there. */
const MOST_REMEMBERED = 10_000;

interface Waiter {
  readonly answer: (passage: Passage) => void;
}

interface Host {
  readonly name: string;
  running: number;
  readonly line: Set<Waiter>;
  /** How many of the last attempts hung, without another between. */
  hung: number;
  /** How long an attempt takes, roughly. */
  expectedMs: number;
  /** When the last of those sent away comes back. */
  backAt: number;
}

/** Begins with no host known. */
export function createDestinations(options: DestinationOptions): Destinations {
  return new HostTable(options);
}

class HostTable implements Destinations {
  readonly #options: DestinationOptions;
  readonly #perHost: number;
  readonly #inAll: number;
  readonly #hosts = new Map<string, Host>();
  /** Hosts with a line and a place free, the next to be served first. */
  readonly #ready = new Set<Host>();
  #running = 0;
  #waiting = 0;
  #isClosed = false;

  constructor(options: DestinationOptions) {
    this.#options = options;
    this.#perHost = options.perHost ?? PER_HOST;
    this.#inAll = options.inAll ?? IN_ALL;
  }

  enter(name: string, signal: AbortSignal): Promise<Passage> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#isClosed) return Promise.resolve({ granted: false, untilMs: this.#options.now() });
    const host = this.#hostOf(name);
    if (host.line.size === 0 && this.#hasPlace(host)) {
      this.#begin(host);
      return Promise.resolve(GRANTED);
    }
    const isFull = host.line.size >= this.#placesOf(host) * LINE_FACTOR || this.#waiting >= MOST_WAITING;
    return isFull ? Promise.resolve(this.#sendAway(host)) : this.#wait(host, signal);
  }

  leave(name: string, durationMs: number | null): void {
    const host = this.#hosts.get(name);
    if (!host) return;
    host.running--;
    this.#running--;
    if (durationMs !== null) {
      host.hung = durationMs >= this.#options.hungMs ? host.hung + 1 : 0;
      host.expectedMs = 0.7 * host.expectedMs + 0.3 * durationMs;
    }
    this.#noteReady(host);
    this.#serve();
    this.#forgetSome();
  }

  close(): void {
    this.#isClosed = true;
    const untilMs = this.#options.now();
    for (const { line } of this.#hosts.values()) for (const { answer } of line) answer({ granted: false, untilMs });
  }

  #hostOf(name: string): Host {
    const known = this.#hosts.get(name);
    const host = known ??
      { name, running: 0, line: new Set(), hung: 0, expectedMs: FIRST_GUESS_MS, backAt: 0 };
    this.#hosts.delete(name);
    this.#hosts.set(name, host); // the one asked for longest ago stands first
    return host;
  }

  #placesOf(host: Host): number {
    return host.hung >= HUNG_IN_A_ROW ? 1 : this.#perHost;
  }

  #hasPlace(host: Host): boolean {
    return host.running < this.#placesOf(host) && this.#running < this.#inAll;
  }

  #begin(host: Host): void {
    host.running++;
    this.#running++;
  }

  #wait(host: Host, signal: AbortSignal): Promise<Passage> {
    const { promise, resolve, reject } = Promise.withResolvers<Passage>();
    const giveUp = () => {
      this.#dismiss(host, waiter);
      reject(signal.reason);
    };
    const waiter: Waiter = {
      answer: (passage) => {
        signal.removeEventListener("abort", giveUp);
        this.#dismiss(host, waiter);
        resolve(passage);
      },
    };
    signal.addEventListener("abort", giveUp, { once: true });
    host.line.add(waiter);
    this.#waiting++;
    this.#noteReady(host);
    return promise;
  }

  #dismiss(host: Host, waiter: Waiter): void {
    if (!host.line.delete(waiter)) return;
    this.#waiting--;
    this.#noteReady(host);
  }

  #noteReady(host: Host): void {
    if (host.line.size > 0 && host.running < this.#placesOf(host)) this.#ready.add(host);
    else this.#ready.delete(host);
  }

  #serve(): void {
    for (const host of this.#ready) {
      if (this.#running >= this.#inAll) return;
      const [waiter] = host.line;
      this.#ready.delete(host); // added again at the end when there is more: the hosts take turns
      this.#begin(host);
      waiter.answer(GRANTED);
    }
  }

  #sendAway(host: Host): Passage {
    const { now, random } = this.#options;
    const soonest = now() + SHORTEST_AWAY_MS;
    host.backAt = Math.max(host.backAt, soonest) + host.expectedMs / this.#placesOf(host);
    // Beyond the longest time they come back over its second half, not all at its end.
    const latest = now() + LONGEST_AWAY_MS * (1 - random() / 2);
    return { granted: false, untilMs: Math.ceil(Math.min(host.backAt, latest)) };
  }

  #forgetSome(): void {
    if (this.#hosts.size <= MOST_REMEMBERED) return;
    for (const [name, host] of this.#hosts) {
      if (host.running > 0 || host.line.size > 0) continue;
      this.#hosts.delete(name);
      return;
    }
  }
}

const GRANTED: Passage = { granted: true };
