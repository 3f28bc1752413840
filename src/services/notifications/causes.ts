import { TurnPace } from "../../platform/lib/streams/turn_pace.ts";
import type { Entry, Key, Store } from "../../platform/store/store.ts";
import type { NotificationEvent } from "../webhooks/envelope.ts";

/**
 * The causes of notifications that were sent. A cause is stored in the commit that adds the deliveries, so an event is
 * sent once for it, whatever ends the process. It is removed when it is over; then the event can be sent again.
 */

const CAUSES: Key = ["notification", "cause"];
const PAGE = 100;

/** A stored cause. */
export interface CauseRecord {
  /** When it was found, in Unix milliseconds. */
  readonly at: number;
}

/**
 * The key of a {@linkcode CauseRecord}.
 *
 * @param cause Tells it from other causes of the event, part by part.
 */
export function causeKey(event: NotificationEvent, cause: readonly string[]): Key {
  return [...CAUSES, event, ...cause];
}

/**
 * Stores a cause for longer if it is stored.
 *
 * @param ttlMs How long, from now.
 * @returns Whether it is stored.
 */
export async function renewCause(
  store: Store,
  event: NotificationEvent,
  { cause, ttlMs }: { readonly cause: readonly string[]; readonly ttlMs: number },
): Promise<boolean> {
  const key = causeKey(event, cause);
  const [entry = null] = await store.get<CauseRecord>([key]);
  if (entry === null) return false;
  // Refused if another process renews it too.
  await store.commit(null, { check: [{ key, version: entry.version }], set: [{ key, value: entry.value, ttlMs }] });
  return true;
}

/** The causes of one event at the start of a pass, which ends those that it does not find again. */
export class OpenCauses {
  /** By their first part, then by name. */
  readonly #entries = new Map<string, Map<string, Entry<CauseRecord>>>();

  private constructor() {}

  /** Reads them from the store. */
  static async read(store: Store, event: NotificationEvent): Promise<OpenCauses> {
    const causes = new OpenCauses();
    const pace = new TurnPace();
    let page: Entry<CauseRecord>[] = [];
    do {
      page = await store.scan<CauseRecord>(causeKey(event, []), { after: page.at(-1)?.key, limit: PAGE });
      for (const entry of page) causes.#add(entry);
      await pace.note();
    } while (page.length === PAGE);
    return causes;
  }

  #add(entry: Entry<CauseRecord>): void {
    const cause = causeOf(entry.key);
    const [first = ""] = cause;
    const group = this.#entries.get(first) ?? new Map<string, Entry<CauseRecord>>();
    this.#entries.set(first, group.set(nameOf(cause), entry));
  }

  /** The open causes that begin with a part, and are not kept yet. */
  below(first: string): string[][] {
    return [...this.#entries.get(first)?.values() ?? []].map(({ key }) => causeOf(key));
  }

  /** Keeps a cause, since it is not over. Returns whether it was open at the start of the pass. */
  keep(cause: readonly string[]): boolean {
    return this.#entries.get(cause[0] ?? "")?.delete(nameOf(cause)) ?? false;
  }

  /** Ends the causes that were not kept, unless another process has changed them since. */
  async endOthers(store: Store): Promise<void> {
    const pace = new TurnPace();
    for (const group of this.#entries.values()) {
      await pace.note();
      for (const { key, version } of group.values()) {
        await pace.note();
        await store.commit(null, { check: [{ key, version }], delete: [key] });
      }
    }
  }
}

/** The cause in a key: what follows the event. */
function causeOf(key: Key): string[] {
  return key.slice(CAUSES.length + 1).map(String);
}

function nameOf(cause: readonly string[]): string {
  return JSON.stringify(cause);
}
