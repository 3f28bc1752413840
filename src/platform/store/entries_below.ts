import type { Entry, Key, Store } from "./store.ts";

/** How entries are read. */
export interface PagesOptions {
  /** The key to continue after. Default: from the first one. */
  readonly after?: Key | undefined;
  /** The entries of a page. Default: 500. */
  readonly limit?: number;
}

const PAGE = 500;

/** All entries below a prefix, in pages; the last one can be empty. */
export async function* pagesBelow<T>(
  store: Pick<Store, "scan">,
  prefix: Key,
  { after: start, limit = PAGE }: PagesOptions = {},
): AsyncGenerator<Entry<T>[]> {
  let after = start;
  do {
    const page = await store.scan<T>(prefix, { after, limit });
    yield page;
    after = page[limit - 1]?.key;
  } while (after !== undefined);
}

/** All entries below a prefix. */
export async function* entriesBelow<T>(
  store: Pick<Store, "scan">,
  prefix: Key,
  options: PagesOptions = {},
): AsyncGenerator<Entry<T>> {
  for await (const page of pagesBelow<T>(store, prefix, options)) yield* page;
}
