import type { JobStore, Key } from "../../src/platform/store/store.ts";
import { storeMember } from "./store_member.ts";

/** A store that records reads of keys that the last commit through it has set. */
export interface ReadBackStore {
  readonly store: JobStore;
  /** The keys that were read directly after they were written. */
  readonly readBacks: readonly Key[];
}

/** Records reads of values that were just written. `commit` returns versions, so such a read is never needed. */
export function recordReadBacks(store: JobStore): ReadBackStore {
  const readBacks: Key[] = [];
  let written = new Set<string>();
  const members: Partial<JobStore> = {
    async commit(operation, commit) {
      const result = await store.commit(operation, commit);
      written = new Set((commit.set ?? []).map(({ key }) => JSON.stringify(key)));
      return result;
    },
    get(keys) {
      readBacks.push(...keys.filter((key) => written.has(JSON.stringify(key))));
      return store.get(keys);
    },
  };
  const proxy = new Proxy(store, {
    get: (target, name: keyof JobStore) => members[name] ?? storeMember(target, name),
  });
  return { store: proxy, readBacks };
}
