import { ConcurrencyWindow } from "./concurrency_window.ts";
import { PostponementPace } from "./postponement_pace.ts";
import type { Destination, Permit, Postponement } from "./permit.ts";

/** Counters of an account, a site or a path. */
export interface Group {
  running: number;
  waiting: number;
  readonly pace: PostponementPace;
}

/** All attempts of one account. */
export interface Account extends Group {
  readonly name: string;
  sites: number;
  /** Sites with waiting attempts; the first is served next. */
  readonly queue: Set<Site>;
}

/** A host with its port, across all accounts. */
export interface Host {
  readonly name: string;
  running: number;
  sites: number;
}

/** A host as called by one account. */
export interface Site extends Group {
  readonly key: string;
  readonly account: Account;
  readonly host: Host;
  paths: number;
  /** Running attempts that started while their path was not responsive. */
  trials: number;
  readonly trialWindow: ConcurrencyWindow;
  /** Paths with waiting attempts; the first is served next. */
  readonly queue: Set<Path>;
}

/** A path of a site, without its query. */
export interface Path extends Group {
  readonly key: string;
  readonly site: Site;
  readonly window: ConcurrencyWindow;
  /** Whether the path's last attempt ended quickly; false before the first attempt. */
  isResponsive: boolean;
  readonly queue: Set<Waiter>;
}

/** An attempt in the queue of its path. */
export interface Waiter {
  readonly answer: (answer: Permit | Postponement) => void;
}

/** Maximum number of tracked paths, unless more have running or waiting attempts. */
const MAX_TRACKED_PATHS = 10_000;

/** Returns the account, site and path that an attempt counts towards. */
export function groupsOf(path: Path): readonly [Account, Site, Path] {
  return [path.site.account, path.site, path];
}

/**
 * All groups by name. The least recently used idle path is evicted first; a site, account or host without paths is
 * evicted with it.
 */
export class AttemptGroups {
  readonly #maxWindow: number;
  readonly #accounts = new Map<string, Account>();
  readonly #hosts = new Map<string, Host>();
  readonly #sites = new Map<string, Site>();
  /** Paths in order of last use, the least recently used first. */
  readonly #paths = new Map<string, Path>();

  /** @param maxWindow Maximum size of a window, in concurrent attempts. */
  constructor(maxWindow: number) {
    this.#maxWindow = maxWindow;
  }

  /** Number of tracked paths. */
  get size(): number {
    return this.#paths.size;
  }

  /** Returns the path of an address for one account; creates it if it is not tracked. */
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
      if (this.#paths.size <= MAX_TRACKED_PATHS) return;
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
  return { running: 0, waiting: 0, pace: new PostponementPace() };
}
