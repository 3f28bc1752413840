import type { Commit, Key, Store } from "../../platform/store/store.ts";
import { elementAt } from "../../platform/lib/collections/element_at.ts";
import { type ConfigDiff, diffWithoutAccount } from "./config_diff.ts";
import type { StoredConfig } from "../tree/plain_tree.ts";

/** One version of the settings in the store. */
export interface StoredVersion {
  /** 1 for the first. */
  readonly version: number;
  /** Unix milliseconds. */
  readonly at: number;
  /** The name of the admin key that made the change. */
  readonly by: string;
  /** What changed in the configuration in force, without secrets. */
  readonly diff: ConfigDiff;
  /** All settings of the store. */
  readonly content: StoredConfig;
}

/** The version in force, 0 if nothing was ever stored. */
interface CurrentRecord {
  readonly version: number;
}

/** The number of versions that are kept. */
const MAX_VERSIONS = 1_000;

const CURRENT = ["config", "current"];
const VERSIONS = ["config", "versions"];

/** The key of a version. It is padded, so that versions are in order. */
function versionKey(version: number): string[] {
  return [...VERSIONS, String(version).padStart(10, "0")];
}

/** The number of the version in force, and its settings; 0 without settings if there is none. */
export async function readStoredConfig(store: Pick<Store, "get">): Promise<{
  readonly version: number;
  readonly content: StoredConfig;
}> {
  const version = await readCurrentVersion(store);
  return { version, content: version === 0 ? {} : (await readStoredVersion(store, version))?.content ?? {} };
}

/** The number of the version in force; 0 if nothing was ever stored. */
export async function readCurrentVersion(store: Pick<Store, "get">): Promise<number> {
  const [current] = await store.get<CurrentRecord>([CURRENT]);
  return current?.value.version ?? 0;
}

/** A version; null if it does not exist or is no longer kept. */
export async function readStoredVersion(store: Pick<Store, "get">, version: number): Promise<StoredVersion | null> {
  const [entry] = await store.get<StoredVersion>([versionKey(version)]);
  return entry?.value ?? null;
}

/**
 * Lists versions, newest first.
 *
 * @param before Only older ones. Default: all.
 */
export async function listStoredVersions(
  store: Pick<Store, "scan">,
  { limit, before }: { readonly limit: number; readonly before?: number },
): Promise<StoredVersion[]> {
  const after = before === undefined ? undefined : versionKey(before);
  return (await store.scan<StoredVersion>(VERSIONS, { limit, reverse: true, after })).map(({ value }) => value);
}

/**
 * Adds a version and puts it in force, in one commit.
 *
 * @returns False if another change was stored first.
 * @throws {RangeError} If the settings exceed the largest value of the store.
 */
export async function addStoredVersion(
  store: Pick<Store, "get" | "commit">,
  version: StoredVersion,
): Promise<boolean> {
  const current = elementAt(await store.get<CurrentRecord>([CURRENT]), 0);
  if ((current?.value.version ?? 0) !== version.version - 1) return false;
  const commit: Commit = {
    check: [{ key: CURRENT, version: current?.version ?? null }],
    set: [
      { key: CURRENT, value: { version: version.version } satisfies CurrentRecord },
      { key: versionKey(version.version), value: version },
    ],
    delete: version.version > MAX_VERSIONS ? [versionKey(version.version - MAX_VERSIONS)] : [],
  };
  return (await store.commit(null, commit)).ok;
}

const ERASED_AT_ONCE = 50;

/**
 * Removes what the differences of the kept versions have of an account. A file that declared it can have changed
 * between two versions. A repeat completes an interrupted call.
 *
 * @returns The number of versions that had something.
 */
export async function eraseFromVersions(store: Pick<Store, "scan" | "commit">, account: string): Promise<number> {
  let erased = 0;
  let after: Key | undefined;
  do {
    const entries = await store.scan<StoredVersion>(VERSIONS, { after, limit: ERASED_AT_ONCE });
    for (const { key, version, value } of entries) {
      const diff = diffWithoutAccount(value.diff, account);
      if (diff === value.diff) continue;
      const commit = { check: [{ key, version }], set: [{ key, value: { ...value, diff } }] };
      if ((await store.commit(null, commit)).ok) erased++;
    }
    after = entries[ERASED_AT_ONCE - 1]?.key;
  } while (after !== undefined);
  return erased;
}
