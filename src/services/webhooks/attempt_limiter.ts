import { shareOfRest } from "../../platform/lib/collections/holdings.ts";
import {
  type Account,
  AttemptGroups,
  type Group,
  groupsOf,
  type Path,
  type Site,
  type Waiter,
} from "./attempt_groups.ts";
import type { ConcurrencyWindow } from "./concurrency_window.ts";
import type { Destination, Permit, Postponement } from "./permit.ts";

/**
 * Decides which attempts run now. Attempts are grouped by account, by the host an account calls (a site), and by the
 * path on that host. No group may delay another.
 *
 * - **Caps.** A host has at most 20 concurrent attempts across all accounts; all hosts together have at most 768.
 * - **Shares.** A group may hold only part of the places that other groups of its level leave free. An account may hold
 *   four fifths of all places and two thirds of a host's places. A path may hold two thirds of its site's places. A
 *   group whose attempts all hang therefore leaves places for others.
 * - **Windows.** A path starts with two places. The window grows by one with each attempt that ends quickly, whatever
 *   its response, and halves with each attempt that hangs. Paths whose last attempt hung and paths without an attempt
 *   share one window of their site. Hanging under many new paths therefore cannot occupy a site.
 * - **Turns.** A free place goes to accounts in turn, then to the sites of an account, then to the paths of a site.
 * - **Queues.** Attempts without a place wait in the queue of their path. Queues have shares too. After three
 *   consecutive attempts that hung, a queue is limited to five attempts for each remaining place. An attempt that finds
 *   its queue full is postponed, so thousands of waiting deliveries are stored jobs only.
 */
export interface AttemptLimiter {
  /**
   * Requests a place; resolves when one is free, or with a postponement when the queue is full.
   *
   * @throws The signal's reason, if it is aborted while waiting.
   */
  acquire(destination: Destination, signal: AbortSignal): Promise<Permit | Postponement>;
  /** Postpones all waiting and later attempts by zero milliseconds. Called when the process ends. */
  close(): void;
}

/** Values that tests override; the defaults are described at {@linkcode AttemptLimiter}. */
export interface AttemptLimiterOptions {
  /** Returns monotonic milliseconds. */
  readonly monotonicMs: () => number;
  /** Returns a uniform random number in [0, 1). */
  readonly random: () => number;
  /** Duration from which an attempt counts as hung. */
  readonly hungMs: number;
  readonly perHost?: number;
  readonly inAll?: number;
}

const MAX_PER_HOST = 20;
const MAX_RUNNING = 768;
/** Maximum length of all queues together; the rest of the jobs that run are being postponed. */
const MAX_WAITING = 1_024;
/**
 * Maximum part of the places others leave free: for one account of all places, and for one group of a host's places or
 * of queues.
 */
const SHARE_OF_ALL = 4 / 5;
const SHARE = 2 / 3;
/** Queue length per place where the last attempts hung. */
const WAITING_PER_PLACE = 5;

/** Creates a limiter without history. */
export function createAttemptLimiter(options: AttemptLimiterOptions): AttemptLimiter {
  return new Limiter(options);
}

class Limiter implements AttemptLimiter {
  readonly #options: AttemptLimiterOptions;
  readonly #perHost: number;
  readonly #inAll: number;
  readonly #groups: AttemptGroups;
  /** Accounts with waiting attempts; the first is served next. */
  readonly #queue = new Set<Account>();
  #running = 0;
  #waiting = 0;
  #isClosed = false;

  constructor(options: AttemptLimiterOptions) {
    this.#options = options;
    this.#perHost = options.perHost ?? MAX_PER_HOST;
    this.#inAll = options.inAll ?? MAX_RUNNING;
    this.#groups = new AttemptGroups(this.#perHost);
  }

  acquire(destination: Destination, signal: AbortSignal): Promise<Permit | Postponement> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#isClosed) return Promise.resolve({ isGranted: false, delayMs: 0 });
    const path = this.#groups.pathOf(destination);
    if (path.waiting === 0 && this.#hasPlace(path)) return Promise.resolve(this.#begin(path));
    return this.#canWait(path) ? this.#wait(path, signal) : Promise.resolve(this.#postpone(path));
  }

  close(): void {
    this.#isClosed = true;
    const waiting = [...this.#queue].flatMap(({ queue }) => [...queue]).flatMap(pathsOf).flatMap(waitersOf);
    for (const { answer } of waiting) answer({ isGranted: false, delayMs: 0 });
  }

  #hasPlace(path: Path): boolean {
    const { site } = path;
    return path.running < this.#pathLimit(path) && this.#hasPlaceAtSite(path) &&
      site.account.running < this.#accountLimit(site.account);
  }

  #hasPlaceAtSite({ site, isResponsive }: Path): boolean {
    return site.running < this.#siteLimit(site) && (isResponsive || site.trials < site.trialWindow.size);
  }

  #accountLimit({ running }: Account): number {
    return shareOf(this.#inAll, this.#running - running, SHARE_OF_ALL);
  }

  #siteLimit({ host, running }: Site): number {
    return shareOf(this.#perHost, host.running - running);
  }

  #pathLimit(path: Path): number {
    return Math.min(path.window.size, this.#pathShare(path));
  }

  #pathShare({ site, running }: Path): number {
    return shareOf(this.#siteLimit(site), site.running - running);
  }

  #begin(path: Path): Permit {
    const { site } = path;
    const isTrial = !path.isResponsive;
    this.#running++;
    site.host.running++;
    if (isTrial) site.trials++;
    for (const group of groupsOf(path)) group.running++;
    let isReleased = false;
    return {
      isGranted: true,
      release: (durationMs) => {
        if (isReleased) return;
        isReleased = true;
        this.#end(path, durationMs, isTrial);
      },
    };
  }

  #end(path: Path, durationMs: number | null, isTrial: boolean): void {
    const { site } = path;
    this.#running--;
    site.host.running--;
    if (isTrial) site.trials--;
    for (const group of groupsOf(path)) group.running--;
    if (durationMs !== null) {
      const hung = durationMs >= this.#options.hungMs;
      path.isResponsive = !hung;
      path.window.record(hung);
      if (isTrial) site.trialWindow.record(hung);
      for (const { pace } of groupsOf(path)) pace.record(durationMs);
      if (hung) this.#cutQueues(site);
    }
    this.#serve();
  }

  #serve(): void {
    for (let path = this.#nextQueued(); path !== null; path = this.#nextQueued()) {
      const [waiter] = path.queue;
      if (waiter !== undefined) waiter.answer(this.#begin(path));
      this.#endTurn(path);
    }
  }

  #nextQueued(): Path | null {
    for (const account of this.#queue) {
      if (account.running >= this.#accountLimit(account)) continue;
      for (const site of account.queue) {
        for (const path of site.queue) if (this.#hasPlace(path)) return path;
      }
    }
    return null;
  }

  #endTurn(path: Path): void {
    const { site } = path;
    if (site.queue.delete(path) && path.queue.size > 0) site.queue.add(path);
    if (site.account.queue.delete(site) && site.queue.size > 0) site.account.queue.add(site);
    if (this.#queue.delete(site.account) && site.account.queue.size > 0) this.#queue.add(site.account);
  }

  #canWait(path: Path): boolean {
    const { site } = path;
    const ofAccount = shareOf(MAX_WAITING, this.#waiting - site.account.waiting);
    const ofSite = shareOf(ofAccount, site.account.waiting - site.waiting);
    const ofPath = shareOf(ofSite, site.waiting - path.waiting);
    return site.account.waiting < ofAccount && site.waiting < ofSite && path.waiting < ofPath &&
      path.waiting < maxWaiting(path.window) &&
      (path.isResponsive || this.#trialsWaiting(site) < maxWaiting(site.trialWindow));
  }

  #trialsWaiting(site: Site): number {
    return queuedTrials(site).reduce((sum, { waiting }) => sum + waiting, 0);
  }

  /** Postpones the newest waiting attempts until the queues of hanging paths are within their limit. */
  #cutQueues(site: Site): void {
    let room = maxWaiting(site.trialWindow);
    for (const path of queuedTrials(site)) {
      const limit = Math.min(room, maxWaiting(path.window));
      for (const { answer } of waitersOf(path).slice(limit)) answer(this.#postpone(path));
      room -= path.waiting;
    }
  }

  #wait(path: Path, signal: AbortSignal): Promise<Permit | Postponement> {
    const { promise, resolve, reject } = Promise.withResolvers<Permit | Postponement>();
    const giveUp = () => {
      this.#dismiss(path, waiter);
      reject(signal.reason);
    };
    const waiter: Waiter = {
      answer: (answer) => {
        signal.removeEventListener("abort", giveUp);
        this.#dismiss(path, waiter);
        resolve(answer);
      },
    };
    signal.addEventListener("abort", giveUp, { once: true });
    path.queue.add(waiter);
    path.site.queue.add(path);
    path.site.account.queue.add(path.site);
    this.#queue.add(path.site.account);
    this.#waiting++;
    for (const group of groupsOf(path)) group.waiting++;
    return promise;
  }

  #dismiss(path: Path, waiter: Waiter): void {
    const { site } = path;
    path.queue.delete(waiter);
    if (path.queue.size === 0) site.queue.delete(path);
    if (site.queue.size === 0) site.account.queue.delete(site);
    if (site.account.queue.size === 0) this.#queue.delete(site.account);
    this.#waiting--;
    for (const group of groupsOf(path)) group.waiting--;
  }

  /** Returns a postponement by the slowest of the groups that have no place. */
  #postpone(path: Path): Postponement {
    const { site } = path;
    const { monotonicMs, random } = this.#options;
    const after = (group: Group, places: number) => group.pace.nextDelayMs(monotonicMs(), places, random);
    const delays: number[] = [];
    if (site.account.running >= this.#accountLimit(site.account)) {
      delays.push(after(site.account, this.#accountLimit(site.account)));
    }
    if (!this.#hasPlaceAtSite(path)) {
      const isOnTrial = !path.isResponsive && site.trialWindow.isHanging;
      delays.push(after(site, Math.min(this.#siteLimit(site), isOnTrial ? site.trialWindow.size : Infinity)));
    }
    if (delays.length === 0 || path.running >= this.#pathLimit(path)) {
      // A growing window will have reached its limit by the time the jobs return.
      delays.push(after(path, path.window.isHanging ? this.#pathLimit(path) : this.#pathShare(path)));
    }
    return { isGranted: false, delayMs: Math.max(...delays) };
  }
}

/** Returns how many of the places that other groups leave free one group may hold. */
function shareOf(places: number, ofOthers: number, share = SHARE): number {
  return Math.ceil(shareOfRest(places, ofOthers, share));
}

/** Returns how many attempts may wait behind a window; unlimited unless its last attempts hung. */
function maxWaiting({ isHanging, size }: ConcurrencyWindow): number {
  return isHanging ? size * WAITING_PER_PLACE : Infinity;
}

function pathsOf(site: Site): Path[] {
  return [...site.queue];
}

function waitersOf(path: Path): Waiter[] {
  return [...path.queue];
}

/** Returns the paths with a queue that have not responded yet. */
function queuedTrials(site: Site): Path[] {
  return pathsOf(site).filter(({ isResponsive }) => !isResponsive);
}
