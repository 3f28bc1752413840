import { useRef, useState } from "preact/hooks";
import type { ApiError } from "../api.ts";
import { keepShownPages, shownPages } from "../navigation.ts";
import { usePolled } from "./polled.ts";
import type { ListAnswer } from "../shapes.ts";

/** The first pages of a list, which grows on demand. */
export interface PagedList<T> {
  /** Null until the first page was read. */
  readonly rows: readonly T[] | null;
  readonly error: ApiError | null;
  /** Reads the page after the shown ones; null at the end of the list. */
  readonly showMore: (() => void) | null;
  /** Reads all shown pages again. */
  readonly reload: () => void;
}

/** What a list is read with. */
export interface PagedOptions<T> {
  /** Names the list. Rows of an earlier name are not shown. */
  readonly name: string;
  /** The shown pages are read again when it changes. Default: it does not. */
  readonly version?: string;
  /** The shown pages are read again this often. Default: never. */
  readonly everyMs?: number;
  /** Reads a page. `after` is empty for the first one. */
  readonly load: (after: string, signal: AbortSignal) => Promise<ListAnswer<T>>;
}

/** Shows a list page by page below each other. */
export function usePages<T>({ name, version = "", everyMs, load }: PagedOptions<T>): PagedList<T> {
  const [wanted, setWanted] = useState({ name, pages: shownPages(name) });
  const pages = wanted.name === name ? wanted.pages : shownPages(name);
  const showMore = () => {
    keepShownPages(name, pages + 1);
    setWanted({ name, pages: pages + 1 });
  };
  const read = usePolled(
    JSON.stringify([name, version, pages]),
    (signal) => readPages(load, pages, signal),
    everyMs ?? null,
  );
  const data = useLatest(name, read.data);
  return {
    rows: data?.data ?? null,
    error: read.error,
    showMore: data === null || data.next === null ? null : showMore,
    reload: read.reload,
  };
}

/** What was read last under a name, while it is read again or more is. */
export function useLatest<T>(name: string, data: T | null): T | null {
  const latest = useRef<{ readonly name: string; readonly data: T | null }>({ name, data });
  if (data !== null || latest.current.name !== name) latest.current = { name, data };
  return latest.current.data;
}

/**
 * Reads pages of a list as one, one after the other, up to its end.
 *
 * @throws {ApiError}
 */
export async function readPages<T>(
  load: PagedOptions<T>["load"],
  pages: number,
  signal: AbortSignal,
): Promise<ListAnswer<T>> {
  const rows: T[] = [];
  let after = "";
  for (let page = 0;; page++) {
    const { data, next } = await load(after, signal);
    rows.push(...data);
    if (next === null || page + 1 >= pages) return { data: rows, next };
    after = next;
  }
}
