import { resolve } from "node:path";

/** Where a store is: a file, the memory of a process, or a database. */
export type StoreAddress =
  | { readonly engine: "kv"; readonly path: string }
  | { readonly engine: "memory" }
  | { readonly engine: "postgres"; readonly url: string };

const PREFIX = "kv:";

/** What the setting `store` says. */
export function storeAddressOf(store: string): StoreAddress {
  if (!store.startsWith(PREFIX)) return { engine: "postgres", url: store };
  const path = store.slice(PREFIX.length);
  return path === ":memory:" ? { engine: "memory" } : { engine: "kv", path };
}

/**
 * The real path beside which a gateway has its own files: the file of the store, or the folder of results if the store
 * is a database; null for a store in memory, which has none. Links to one store have one path.
 */
export async function localPathOf(
  { store, files }: { readonly store: string; readonly files: string },
): Promise<string | null> {
  const address = storeAddressOf(store);
  if (address.engine === "memory") return null;
  const path = address.engine === "kv" ? address.path : files;
  return await Deno.realPath(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return resolve(path);
    throw error;
  });
}

/** The setting `store` for messages: a database without its password and parameters. */
export function shownStore(store: string): string {
  if (!/^postgres(ql)?:/.test(store)) return store;
  try {
    const { username, host, pathname } = new URL(store);
    return `postgres://${username === "" ? "" : `${username}@`}${host}${pathname}`;
  } catch {
    return "postgres://";
  }
}
