import type { Money } from "../../../platform/lib/basics/money.ts";
import type { Key, Store } from "../../../platform/store/store.ts";
import { ownTasksKey, type OwnTaskTerm, ownTermKey } from "./own_index.ts";
import { readTasks } from "./records.ts";
import type { VideoStatus, VideoTask } from "./task.ts";
import { type TaskObject, taskObjectOf } from "./task_object.ts";
import type { VideoParts } from "./video_parts.ts";

/** Filter of a credential's tasks; all set fields must match. */
export interface OwnTaskFilter {
  /** Null for any. */
  readonly status: VideoStatus | null;
  /** Id of the model in the catalog; null for any. */
  readonly model: string | null;
  /** Pairs that the task's metadata must contain; empty for any. */
  readonly metadata: readonly (readonly [key: string, value: string])[];
}

/** Position and size of a page. */
export interface OwnTaskPageRequest {
  /** Task id to continue after; null for the first page. */
  readonly after: string | null;
  readonly limit: number;
  /** Newest first. */
  readonly reverse: boolean;
}

/** One page of a credential's tasks. */
export interface OwnTaskPage {
  readonly tasks: readonly VideoTask[];
  /** Cursor for the next page; null on the last page. */
  readonly next: string | null;
}

/** Maximum number of index reads per page. A page that needs more ends early, with a `next`. */
export const MAX_PAGE_SCANS = 30;

/** Number of entries per read; a page of 100 without a filter needs one read. */
const SCAN_ENTRIES = 101;

/**
 * Returns a page of a credential's tasks in order of creation. Filters use only the index: the sorted lists of all
 * terms are intersected, each skipping to the position of the others. The rarest term therefore determines the cost of
 * a page.
 */
export async function listOwnTasks(
  store: Store,
  keyId: string,
  filter: OwnTaskFilter,
  { after, limit, reverse }: OwnTaskPageRequest,
): Promise<OwnTaskPage> {
  const walk = new CommonIds(store, listsOf(keyId, filter), reverse, after);
  const ids: string[] = [];
  while (ids.length <= limit) {
    const id = await walk.next();
    if (id === null) break;
    ids.push(id);
  }
  const hasMore = ids.length > limit || walk.isCutShort;
  const page = ids.slice(0, limit);
  const tasks = await readTasks(store, page);
  const next = ids.length > limit ? page.at(-1) ?? null : walk.position;
  return {
    // A task that ended since its list was read belongs to another list now.
    tasks: tasks.filter(({ status }) => filter.status === null || status === filter.status),
    next: hasMore ? next : null,
  };
}

function listsOf(keyId: string, { status, model, metadata }: OwnTaskFilter): Key[] {
  const terms: OwnTaskTerm[] = metadata.map(([key, value]) => ({ by: "metadata", key, value }));
  if (status !== null) terms.push({ by: "status", status });
  if (model !== null) terms.push({ by: "model", model });
  return terms.length === 0 ? [ownTasksKey(keyId)] : terms.map((term) => ownTermKey(keyId, term));
}

/** Intersection of several sorted lists of ids. */
class CommonIds {
  readonly #lists: readonly SortedIds[];
  readonly #allowance = { scans: MAX_PAGE_SCANS };
  #position: string | null;
  #isCutShort = false;

  constructor(store: Store, lists: readonly Key[], reverse: boolean, after: string | null) {
    this.#lists = lists.map((list) => new SortedIds(store, list, reverse, this.#allowance));
    this.#position = after;
  }

  /** The last id that was returned or is missing in a list. */
  get position(): string | null {
    return this.#position;
  }

  /** Whether the maximum number of reads ended the iteration early. */
  get isCutShort(): boolean {
    return this.#isCutShort;
  }

  /** Returns the next common id; null at the end or when the maximum number of reads is reached. */
  async next(): Promise<string | null> {
    const [first, ...others] = this.#lists;
    if (first === undefined) return null;
    let wanted = await this.#read(first.behind(this.#position));
    while (wanted !== null) {
      const other = await this.#firstMismatch(others, wanted);
      if (other === "none") return this.#position = wanted;
      if (other === null) return null;
      this.#position = wanted;
      wanted = await this.#read(first.from(other));
    }
    return null;
  }

  /** Returns the next id of another list if it lacks the wanted one; null if that list ends before it. */
  async #firstMismatch(others: readonly SortedIds[], wanted: string): Promise<string | "none" | null> {
    for (const list of others) {
      const id = await this.#read(list.from(wanted));
      if (id !== wanted) return id;
    }
    return "none";
  }

  async #read(read: Promise<string | null | typeof EXHAUSTED>): Promise<string | null> {
    const id = await read;
    if (id !== EXHAUSTED) return id;
    this.#isCutShort = true;
    return null;
  }
}

const EXHAUSTED = Symbol("no read is left");

/** One list of the index, read in batches on demand. Positions must not go backwards. */
class SortedIds {
  #ids: string[] = [];
  #isOver = false;

  constructor(
    readonly store: Store,
    readonly list: Key,
    readonly reverse: boolean,
    readonly allowance: { scans: number },
  ) {}

  /** Returns the first id after this one; the first of all for null. */
  async behind(id: string | null): Promise<string | null | typeof EXHAUSTED> {
    return await this.#first((each) => id === null || this.#isBefore(id, each), id);
  }

  /** Returns this id, or the first one after it. */
  async from(id: string): Promise<string | null | typeof EXHAUSTED> {
    // Sorts directly before the id: a prefix of it, or a longer text in reverse order.
    const position = this.reverse ? `${id}~` : id.slice(0, -1);
    return await this.#first((each) => !this.#isBefore(each, id), position);
  }

  async #first(isWanted: (id: string) => boolean, position: string | null): Promise<string | null | typeof EXHAUSTED> {
    const at = this.#ids.findIndex(isWanted);
    this.#ids = at < 0 ? [] : this.#ids.slice(at);
    if (this.#ids.length > 0 || this.#isOver) return this.#ids[0] ?? null;
    if (this.allowance.scans-- <= 0) return EXHAUSTED;
    const after = position === null ? {} : { after: [...this.list, position] };
    const entries = await this.store.scan(this.list, { ...after, limit: SCAN_ENTRIES, reverse: this.reverse });
    this.#isOver = entries.length < SCAN_ENTRIES;
    this.#ids = entries.map(({ key }) => String(key[key.length - 1])).filter(isWanted);
    return this.#ids[0] ?? null;
  }

  #isBefore(a: string, b: string): boolean {
    return this.reverse ? a > b : a < b;
  }
}

/** A task that has ended. */
export interface EndedVideo {
  readonly task: TaskObject;
  /** What was charged. */
  readonly cost: Money;
}

/** The tasks that are not pending, by id; null for one that does not exist any more. */
export async function endedVideos(
  parts: VideoParts,
  ids: readonly string[],
): Promise<ReadonlyMap<string, EndedVideo | null>> {
  const found = new Map<string, EndedVideo | null>(ids.map((id) => [id, null]));
  for (const task of await readTasks(parts.store, ids)) {
    if (task.status === "pending") found.delete(task.id);
    else found.set(task.id, { task: taskObjectOf(task, parts.store.now(), parts), cost: task.usage?.cost ?? 0n });
  }
  return found;
}
