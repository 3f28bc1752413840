import type { AuditLog } from "../../observers/audit/audit_log.ts";
import type { PriceBook, SourcedModel } from "../catalog/sourced_model.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import type { EgressPolicy } from "../../platform/net/target.ts";
import type { Commit, Store } from "../../platform/store/store.ts";
import { auditedChanges, type PriceActor } from "./audited_prices.ts";
import { type FetchedPrices, fetchPrices, PriceSourceError } from "./fetch_prices.ts";
import type { PendingChange, PriceChange } from "./price_changes.ts";
import type { PriceWork } from "./price_work.ts";
import {
  type PriceLists,
  type PriceState,
  readPriceLists,
  readPriceState,
  type StoredPrices,
  writePrices,
} from "./records.ts";
import type { PricesConfig } from "./prices_section.ts";
import { inTurn } from "../../platform/lib/collections/in_turn.ts";

/** Options of {@linkcode PriceFeed}. */
export interface PriceFeedOptions {
  readonly settings: PricesConfig;
  readonly store: Pick<Store, "get" | "commit" | "limits" | "now">;
  readonly audit: AuditLog;
  readonly log: Log;
  readonly work: PriceWork;
  /** The time from a change until it takes effect, so that all threads and gateways have it by then. */
  readonly leadMs: number;
  /** The rules for the address now. */
  readonly egress: () => EgressPolicy;
  /** The vendors in use now, by the first parts of their built-in ids. */
  readonly families: () => readonly string[];
  /** Puts prices in use for requests that begin at a moment or later. */
  readonly onPrices: (book: PriceBook, from: number) => Promise<void>;
  /**
   * Gives what announces a change, which is in the commit of the change: a kill loses neither without the other. Null
   * for nothing. Default: changes are not announced.
   */
  readonly announcement?: (event: PricesChanged) => Promise<Commit | null>;
  /** Called after each change, also one that waits for a person. */
  readonly onChanged: (event: PricesChanged) => void;
}

/** What has changed, for the log and for events. */
export interface PricesChanged {
  /** Of the stored price list; null if nothing in it has changed. */
  readonly revision: number | null;
  readonly applied: readonly PriceChange[];
  /** The changes that wait now. */
  readonly pending: readonly PendingChange[];
  /** The time since which the source could not be read, if that is longer than `keep`; else null. */
  readonly staleSince: number | null;
}

/** What is shown of the price source. */
export interface PriceStatus {
  readonly state: PriceState | null;
  readonly pending: readonly PendingChange[];
  /** The number of models with a price of the source. */
  readonly models: number;
  /** Whether the source could not be read for longer than `keep`. */
  readonly isStale: boolean;
  /** Why the last reading failed, and when; null if it did not. */
  readonly failure: PriceState["failure"];
}

const NOTHING: PriceLists = { book: {}, pending: [] };
/** A gateway that lost so many races has others that read the same source. */
const MAX_RACES = 8;

/**
 * The prices that arrive from a source. They are in the store, so that all gateways on it and the next start have them.
 * A source that cannot be read changes nothing.
 */
export class PriceFeed {
  #lists: PriceLists = NOTHING;
  #stored: StoredPrices | null = null;
  /** When the source was expected to answer first, if it never did. */
  readonly #startedAt: number;
  #isOpen = false;
  /** Resolves when no reading is under way. */
  #reading: Promise<unknown> = Promise.resolve();
  #failure: PriceState["failure"] = null;
  readonly #inTurn = inTurn();
  readonly #abort = new AbortController();

  constructor(readonly options: PriceFeedOptions) {
    this.#startedAt = options.store.now();
  }

  /** The prices of the source that are in use. */
  get book(): PriceBook {
    return this.#lists.book;
  }

  /** What is known of the source. */
  get status(): PriceStatus {
    const { book, pending } = this.#lists;
    const failure = this.#failure ?? this.#state?.failure ?? null;
    const isStale = this.staleSince !== null;
    return { state: this.#state, pending, models: Object.keys(book).length, isStale, failure };
  }

  /** Puts the stored prices in use, as at a start, and those that another gateway has stored since. */
  follow(): Promise<void> {
    return this.#inTurn(() => this.#load());
  }

  /** When the source is due, in milliseconds from now; 0 for now. */
  get dueInMs(): number {
    const { settings: { everyMs }, store } = this.options;
    return Math.max(0, (this.#state?.readAt ?? 0) + everyMs - store.now());
  }

  /** Ends a reading that is under way. Resolves when no change is under way. */
  async close(): Promise<void> {
    this.#abort.abort();
    await this.#reading;
    await this.#inTurn(async () => {});
    this.options.work.close();
  }

  /**
   * Reads the source if no other gateway has done so.
   *
   * @throws {GatewayError} As {@linkcode PriceFeed.refresh}.
   */
  readIfDue(): Promise<void> {
    return this.#held(this.#readIfDue());
  }

  /**
   * Reads the source now.
   *
   * @throws {GatewayError} `upstream_error` with the reason, if it cannot be read or used.
   */
  refresh(): Promise<void> {
    return this.#held(this.#read());
  }

  /**
   * Puts changes in use that wait for a person.
   *
   * @param models Their models; null for all.
   * @returns The changes.
   * @throws {GatewayError} `not_found` if a model has no change that waits; `conflict` after many lost races.
   */
  apply(models: readonly string[] | null, actor: PriceActor): Promise<readonly PriceChange[]> {
    return this.#inTurn(() => this.#apply(models, actor));
  }

  get #state(): PriceState | null {
    return this.#stored?.state ?? null;
  }

  /** Since when the source could not be read, if that is longer than `keep`; else null. Unix milliseconds. */
  get staleSince(): number | null {
    return this.#staleFrom(this.#state?.readAt ?? this.#startedAt);
  }

  #staleFrom(since: number): number | null {
    const { settings: { keepMs }, store } = this.options;
    return store.now() - since > keepMs ? since : null;
  }

  #held<T>(reading: Promise<T>): Promise<T> {
    this.#reading = Promise.allSettled([this.#reading, reading]);
    return reading;
  }

  /** Another gateway may have read the source since. */
  async #readIfDue(): Promise<void> {
    await this.follow();
    const { settings: { everyMs }, store } = this.options;
    const age = store.now() - (this.#state?.readAt ?? 0);
    if (age >= everyMs / 2 || !this.#hasSameFamilies()) await this.#read();
  }

  /** Loads what is stored, if it is newer and of the configured source. */
  async #load(): Promise<void> {
    const { store, settings: { source }, onPrices } = this.options;
    const stored = await readPriceState(store);
    const isFirst = !this.#isOpen;
    this.#isOpen = true;
    if (stored?.version === this.#stored?.version) return;
    const isOurs = stored?.state.source === source;
    const isSame = isOurs && stored.state.revision === this.#state?.revision && this.#state.source === source;
    const lists = isSame ? this.#lists : isOurs ? await readPriceLists(store, stored.state) : NOTHING;
    if (lists === null) return;
    this.#stored = stored;
    if (isSame) return;
    this.#lists = lists;
    // At a start no earlier prices are known that could hold until then.
    if (isOurs) await onPrices(lists.book, isFirst ? -Infinity : stored.state.from);
  }

  /** A download takes no turn: changes of other gateways are not delayed by it. */
  async #read(): Promise<void> {
    await this.follow();
    const isSame = this.#state?.source === this.options.settings.source && this.#hasSameFamilies();
    try {
      const { etag, lastModified } = this.#state ?? {};
      const before = isSame ? { etag: etag ?? null, lastModified: lastModified ?? null } : NO_VALIDATORS;
      const { settings: { source }, egress } = this.options;
      const fetched = await fetchPrices(source, before, { policy: egress(), signal: this.#abort.signal });
      await this.#inTurn(() => this.#take(fetched));
    } catch (error) {
      if (!(error instanceof PriceSourceError)) throw error;
      await this.#inTurn(() => this.#storeFailure(error.message));
      throw new GatewayError("upstream_error", `The price source cannot be used: ${error.message}`);
    }
  }

  async #take(fetched: FetchedPrices): Promise<void> {
    await this.#load();
    this.#failure = null;
    if (fetched.bytes === null) await this.#store(null, fetched, []);
    else await this.#compare(fetched, fetched.bytes);
  }

  async #compare(fetched: FetchedPrices, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const { work, settings: { maxChange }, families, log } = this.options;
    const result = await work.run({
      bytes: bytes.buffer,
      families: families(),
      current: this.#lists.book,
      maxChange,
    });
    if (result.type === "refused") throw new PriceSourceError(result.problems.join("; "));
    const { book, applied, pending, unusable } = result;
    if (unusable.length > 0) {
      log.info("prices_unusable", { count: unusable.length, reason: unusable.slice(0, 10).join(", ") });
    }
    const isChanged = JSON.stringify({ book, pending }) !== JSON.stringify(this.#lists);
    await this.#store(isChanged ? { book, pending } : null, fetched, applied);
  }

  /** Stores what was read, with an entry in the audit log for every change of a price. */
  async #store(lists: PriceLists | null, fetched: FetchedPrices, applied: readonly PriceChange[]): Promise<void> {
    const { settings: { source }, families, store } = this.options;
    const { etag, lastModified } = fetched;
    const state = { source, families: families(), etag, lastModified, readAt: store.now(), failure: null };
    await this.#change({ state, lists, applied }, SOURCE_ACTOR);
  }

  async #change(
    { state, lists, applied }: {
      readonly state: Omit<PriceState, "parts" | "hash" | "revision" | "from">;
      readonly lists: PriceLists | null;
      readonly applied: readonly PriceChange[];
    },
    actor: PriceActor,
  ): Promise<boolean> {
    const { store, audit, leadMs, onPrices, onChanged } = this.options;
    const { revision = 0, from = store.now() } = this.#state ?? {};
    const next = { ...state, revision: lists === null ? revision : revision + 1, from };
    const hasPrices = lists !== null && (applied.length > 0 || this.#state?.source !== state.source);
    const effective = hasPrices ? { ...next, from: store.now() + leadMs } : next;
    const event = this.#newsOf(effective, lists, applied);
    const entries = await auditedChanges(audit, applied, actor);
    let stored: StoredPrices | null = null;
    try {
      const announcement = event === null ? null : await this.options.announcement?.(event) ?? null;
      stored = await writePrices(store, this.#stored, { state: effective, lists, announcement });
    } finally {
      await (stored === null ? entries.refused() : entries.done());
    }
    if (stored === null) {
      await this.#load();
      return false;
    }
    this.#stored = stored;
    if (lists === null) return true;
    this.#lists = lists;
    await onPrices(lists.book, effective.from);
    if (event !== null) onChanged(event);
    return true;
  }

  /** What people are told of a change; null for nothing. */
  #newsOf(
    { revision, readAt }: Pick<PriceState, "revision" | "readAt">,
    lists: PriceLists | null,
    applied: readonly PriceChange[],
  ): PricesChanged | null {
    if (lists === null) return null;
    const isNews = applied.length > 0 || JSON.stringify(lists.pending) !== JSON.stringify(this.#lists.pending);
    return isNews ? { revision, applied, pending: lists.pending, staleSince: this.#staleFrom(readAt) } : null;
  }

  async #storeFailure(reason: string): Promise<void> {
    const stored = this.#stored;
    const failure = this.#failure = { at: this.options.store.now(), reason };
    if (stored === null) return;
    const state = { ...stored.state, failure };
    this.#stored = await writePrices(this.options.store, stored, { state, lists: null }) ?? stored;
  }

  async #apply(models: readonly string[] | null, actor: PriceActor): Promise<readonly PriceChange[]> {
    for (let race = 0; race < MAX_RACES; race++) {
      await this.#load();
      const { book, pending } = this.#lists;
      const state = this.#state;
      const chosen = models === null ? pending : models.map((model) => pendingOf(pending, model));
      if (state === null || chosen.length === 0) return [];
      const next: Record<string, SourcedModel> = { ...book };
      for (const { model, sourced } of chosen) {
        if (sourced === null) delete next[model];
        else next[model] = sourced;
      }
      const lists = { book: next, pending: pending.filter((each) => !chosen.includes(each)) };
      const applied = chosen.map(({ model, before, after }) => ({ model, before, after }));
      if (await this.#change({ state, lists, applied }, actor)) return applied;
    }
    throw new GatewayError("conflict", "Cannot apply the prices: others changed them meanwhile. Repeat the request");
  }

  #hasSameFamilies(): boolean {
    const known = this.#state?.families ?? [];
    return this.options.families().every((family) => known.includes(family));
  }
}

const NO_VALIDATORS = { etag: null, lastModified: null };
const SOURCE_ACTOR: PriceActor = { name: "price source", address: null, requestId: null };

function pendingOf(pending: readonly PendingChange[], model: string): PendingChange {
  const found = pending.find((each) => each.model === model);
  if (found !== undefined) return found;
  throw new GatewayError("not_found", `Cannot find a change of prices of "${model.slice(0, 200)}" that waits`);
}
