import { newSortableId } from "../../platform/lib/basics/ids.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Entry, Key, Store } from "../../platform/store/store.ts";
import { changedFields } from "./changed_fields.ts";
import { AUDIT_ENTRIES, auditEntryKey } from "./records.ts";

/** Who makes a change. */
export interface AuditActor {
  /** The name of the admin key, `command line` for a command over a stopped store, or `configuration`. */
  readonly name: string;
  /** The client's address; null where there is none. */
  readonly address: string | null;
}

/** A change as it is requested. */
export interface AuditIntent {
  readonly actor: AuditActor;
  /** Null without a request. */
  readonly requestId: string | null;
  /** The HTTP method and path. */
  readonly method: string;
  readonly path: string;
  /** The account that is changed; null if it is another object. */
  readonly account: string | null;
  /** The object before the change, without secrets; null if there is none. */
  readonly before: JsonObject | null;
}

/**
 * An entry of the audit log. It is `begun` before the change and `done` after it. An entry that stays `begun` belongs
 * to a change whose end is unknown, because the process ended or the store failed.
 */
export interface AuditEntry {
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly actor: AuditActor;
  readonly requestId: string | null;
  readonly method: string;
  readonly path: string;
  readonly account: string | null;
  readonly state: "begun" | "done";
  /** The changed fields before the change; null if there was no object. */
  readonly before: JsonObject | null;
  /** The same fields after it; null if the object is gone or the end is unknown. */
  readonly after: JsonObject | null;
}

/** Selects entries. */
export interface AuditFilter {
  /** Unix milliseconds, inclusive. Default: the first entry. */
  readonly from?: number;
  /** Unix milliseconds, exclusive. Default: the last entry. */
  readonly to?: number;
  readonly actor?: string;
  readonly account?: string;
  /** The beginning of the path. Default: any. */
  readonly pathPrefix?: string;
}

/** A change in progress. */
export interface AuditedChange {
  /**
   * Records that the change was made.
   *
   * @param account The account, if it was not known before. Default: that of the intent.
   */
  done(after: JsonObject | null, account?: string | null): Promise<void>;
  /** Records that nothing was changed: the entry is removed. */
  refused(): Promise<void>;
}

/** The entries that one read of a filtered list examines. */
const MAX_EXAMINED = 1_000;
const BATCH = 100;
/** More lost races for one entry indicate a programming error. */
const MAX_RACES = 8;
/** The end of the path of a request that erases an account. Its entry has counts only. */
const ERASURE = "/erase";

/** The append-only log of all changes by operators. Only the values of an erased account are removed from it. */
export class AuditLog {
  /** @param retentionMs How long entries are kept; null for ever. */
  constructor(readonly store: Store, readonly retentionMs: number | null) {}

  /**
   * Records that a change begins. The entry is durable before the change, so no change is without one.
   *
   * @throws {StoreWriteError} If the store takes no writes. The change must not be made then.
   */
  async begin(intent: AuditIntent): Promise<AuditedChange> {
    const at = this.store.now();
    const [shown] = changedFields(intent.before, null);
    const entry: AuditEntry = { ...intent, id: newSortableId(at), at, state: "begun", before: shown, after: null };
    await this.#write(entry);
    return {
      done: async (after, account = intent.account) => {
        const [before, changed] = changedFields(intent.before, after);
        await this.#write({ ...entry, account, state: "done", before, after: changed });
      },
      refused: async () => void await this.store.commit(null, { delete: [auditEntryKey(entry.id)] }),
    };
  }

  /** Lists entries, newest first. `next` is the `after` of the following page, or null. */
  async list(
    filter: AuditFilter,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<{ entries: AuditEntry[]; next: string | null }> {
    const entries: AuditEntry[] = [];
    let { after } = page;
    for (let examined = 0; examined < MAX_EXAMINED; examined += BATCH) {
      const found = await this.store.scan<AuditEntry>(AUDIT_ENTRIES, {
        limit: BATCH,
        reverse: true,
        ...after === undefined ? {} : { after: auditEntryKey(after) },
      });
      for (const { value } of found) {
        if (filter.from !== undefined && value.at < filter.from) return { entries, next: null };
        if (matches(value, filter)) entries.push(value);
        after = value.id;
        if (entries.length === page.limit) return { entries, next: after };
      }
      if (found.length < BATCH) return { entries, next: null };
    }
    return { entries, next: after ?? null };
  }

  /**
   * Removes the values before and after the changes of an account, a commit for each entry. Who changed it when stays,
   * and so do the entries of its erasure.
   *
   * @param withoutAccount Returns a value of another change, such as one of the configuration, without what it has of
   * the account; the same object if it has nothing.
   * @returns The number of changed entries.
   */
  async eraseValues(account: string, withoutAccount: (value: JsonObject) => JsonObject): Promise<number> {
    const erasedOf = (entry: AuditEntry): AuditEntry => {
      const { before, after } = entry;
      if (isAbout(entry, account)) return before === null && after === null ? entry : withValues(entry, null, null);
      if (entry.account !== null) return entry;
      const [one, other] = [before && withoutAccount(before), after && withoutAccount(after)];
      return one === before && other === after ? entry : withValues(entry, one, other);
    };
    let erased = 0;
    let after: Key | undefined;
    do {
      const page: Entry<AuditEntry>[] = await this.store.scan<AuditEntry>(AUDIT_ENTRIES, { after, limit: BATCH });
      for (const { value } of page) {
        if (erasedOf(value) !== value && await this.#eraseEntry(value.id, erasedOf)) erased++;
      }
      after = page[BATCH - 1]?.key;
    } while (after !== undefined);
    return erased;
  }

  async #eraseEntry(id: string, erasedOf: (entry: AuditEntry) => AuditEntry): Promise<boolean> {
    const key = auditEntryKey(id);
    for (let race = 0; race < MAX_RACES; race++) {
      const [entry] = await this.store.get<AuditEntry>([key]);
      if (!entry) return false;
      const value = erasedOf(entry.value);
      if (value === entry.value) return false;
      const set = [{ key, value, ...this.#ttlOf(value) }];
      if ((await this.store.commit(null, { check: [{ key, version: entry.version }], set })).ok) return true;
    }
    throw new GatewayError("conflict", "Cannot erase the values of an audit entry: too many concurrent changes");
  }

  async #write(entry: AuditEntry): Promise<void> {
    await this.store.commit(null, { set: [{ key: auditEntryKey(entry.id), value: entry, ...this.#ttlOf(entry) }] });
  }

  /** An entry expires by its own time, however often it is written. */
  #ttlOf({ at }: AuditEntry): { ttlMs?: number } {
    return this.retentionMs === null ? {} : { ttlMs: Math.max(1, at + this.retentionMs - this.store.now()) };
  }
}

function withValues(entry: AuditEntry, before: JsonObject | null, after: JsonObject | null): AuditEntry {
  return { ...entry, before, after };
}

/** Whether an entry has values of an account. Changes of deliveries name the account in their values. */
function isAbout({ account, path, before, after }: AuditEntry, id: string): boolean {
  const isNamed = account === id || before?.account === id || after?.account === id;
  return isNamed && !path.endsWith(ERASURE);
}

function matches(entry: AuditEntry, { to, actor, account, pathPrefix = "" }: AuditFilter): boolean {
  return (to === undefined || entry.at < to) && (actor === undefined || entry.actor.name === actor) &&
    (account === undefined || entry.account === account) && entry.path.startsWith(pathPrefix);
}
