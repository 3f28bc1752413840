import { ConcurrencyWindow } from "./concurrency_window.ts";
import { Pace } from "./pace.ts";
import type { Destination, Permit, Postponement } from "./permit.ts";

/** What is counted of an account, of a site and of a path. */
export interface Group {
  running: number;
  waiting: number;
  readonly pace: Pace;
}

/** All attempts of one account. */
export interface Account extends Group {
  readonly name: string;
  sites: number;
  /** Sites with attempts that wait, the next to be served first. */
  readonly queue: Set<Site>;
}

/** A host, with its port, over all accounts. */
export interface Host {
  readonly name: string;
  running: number;
  sites: number;
}

/** A host as one account calls it. */
export interface Site extends Group {
  readonly key: string;
  readonly account: Account;
  readonly host: Host;
  paths: number;
  /** Attempts under way that began while their path was not responsive. */
  trials: number;
  readonly trialWindow: ConcurrencyWindow;
  /** Paths with attempts that wait, the next to be served first. */
  readonly queue: Set<Path>;
}

/** A path of a site, its query left aside. */
export interface Path extends Group {
  readonly key: string;
  readonly site: Site;
  readonly window: ConcurrencyWindow;
  /** Whether its last attempt ended soon; false before the first. */
  isResponsive: boolean;
  readonly queue: Set<Waiter>;
}

/** An attempt in the queue of its path. */
export interface Waiter {
  readonly answer: (answer: Permit | Postponement) => void;
}

/** Paths that are remembered while nothing goes there. */
const MAX_REMEMBERED = 10_000;

/** The account, the site and the path that an attempt counts for. */
export function groupsOf(path: Path): readonly [Account, Site, Path] {
  return [path.site.account, path.site, path];
}

/**
 * All groups by name. The path that was asked for longest ago is forgotten first, and what has no path is forgotten
 * with it.
 */
export class AttemptGroups {
  readonly #maxWindow: number;
  readonly #accounts = new Map<string, Account>();
  readonly #hosts = new Map<string, Host>();
  readonly #sites = new Map<string, Site>();
  /** The one that was asked for longest ago first. */
  readonly #paths = new Map<string, Path>();

  /** @param maxWindow The most attempts at once that a window grows to. */
  constructor(maxWindow: number) {
    this.#maxWindow = maxWindow;
  }

  /** How many paths are remembered. */
  get size(): number {
    return this.#paths.size;
  }

  /** The path of an address, for one account. */
  pathOf({ account, url }: Destination): Path {
    const { host, pathname } = new URL(url);
    const siteKey = `${account} ${host}`;
    const key = `${siteKey} ${pathname}`;
    const path = this.#paths.get(key) ?? this.#newPath(key, this.#siteOf(siteKey, account, host));
    this.#paths.delete(key);
    this.#paths.set(key, path);
    this.#forgetIdle();
    return path;
  }

  #forgetIdle(): void {
    for (const path of this.#paths.values()) {
      if (this.#paths.size <= MAX_REMEMBERED) return;
      if (path.running === 0 && path.waiting === 0) this.#forget(path);
    }
  }

  #newPath(key: string, site: Site): Path {
    site.paths++;
    const window = new ConcurrencyWindow({ initial: 2, min: 1, max: this.#maxWindow });
    return { ...newGroup(), key, site, window, isResponsive: false, queue: new Set() };
  }

  #siteOf(key: string, accountName: string, hostName: string): Site {
    const known = this.#sites.get(key);
    if (known) return known;
    const account = this.#accounts.get(accountName) ?? { ...newGroup(), name: accountName, sites: 0, queue: new Set() };
    const host = this.#hosts.get(hostName) ?? { name: hostName, running: 0, sites: 0 };
    this.#accounts.set(accountName, account);
    this.#hosts.set(hostName, host);
    account.sites++;
    host.sites++;
    const trialWindow = new ConcurrencyWindow({ initial: 4, min: 3, max: this.#maxWindow });
    const site: Site = { ...newGroup(), key, account, host, paths: 0, trials: 0, trialWindow, queue: new Set() };
    this.#sites.set(key, site);
    return site;
  }

  #forget({ key, site }: Path): void {
    this.#paths.delete(key);
    if (--site.paths > 0) return;
    this.#sites.delete(site.key);
    if (--site.account.sites === 0) this.#accounts.delete(site.account.name);
    if (--site.host.sites === 0) this.#hosts.delete(site.host.name);
  }
}

function newGroup(): Group {
  return { running: 0, waiting: 0, pace: new Pace() };
}
