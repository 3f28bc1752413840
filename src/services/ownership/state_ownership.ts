import type { Log } from "../../platform/lib/basics/log.ts";
import type { Store } from "../../platform/store/store.ts";
import { addOwners, type Owner, type OwnerEntry, readOwners, renewOwner, type StateReference } from "./records.ts";

/** Records which account owns the state that vendors keep and name by an id. */
export interface StateOwnership {
  /**
   * Records the owner of ids. The ids may be sent to the caller only after this resolves. An id that has an owner keeps
   * it.
   */
  keep(owner: Owner, states: readonly StateReference[]): Promise<void>;
  /** The owners of ids, in their order; null for an id that the gateway never issued. */
  owners(states: readonly StateReference[]): Promise<readonly (Owner | null)[]>;
}

const MAX_STATES_PER_COMMIT = 50;
const RENEWED_AFTER_MS = 86_400_000;

/** Ownership in the store. The store groups commits of concurrent requests. */
export function createStateOwnership({ store, log }: { readonly store: Store; readonly log: Log }): StateOwnership {
  async function keepSome(owner: Owner, states: readonly StateReference[]): Promise<void> {
    const { ok } = await store.commit(null, addOwners(states, owner, store.now()));
    if (ok) return;
    const known = await readOwners(store, states);
    for (const [index, state] of states.entries()) await keepOne(owner, state, known[index] ?? null);
  }

  async function keepOne(owner: Owner, state: StateReference, known: OwnerEntry | null): Promise<void> {
    const now = store.now();
    if (known === null) {
      const { ok } = await store.commit(null, addOwners([state], owner, now));
      if (!ok) await keepOne(owner, state, (await readOwners(store, [state]))[0] ?? null);
      return;
    }
    if (known.account !== owner.account || known.provider !== owner.provider) {
      log.warn("vendor_state_has_owner", { provider: owner.provider, accountId: owner.account, state: state.kind });
    } else if (now - known.writtenAt > RENEWED_AFTER_MS) {
      // If another reply has renewed it meanwhile, the result is the same.
      await store.commit(null, renewOwner(state, known, now));
    }
  }

  return {
    async keep(owner, states) {
      const commits: Promise<void>[] = [];
      const perCommit = Math.min(MAX_STATES_PER_COMMIT, store.limits.maxChecks);
      for (let from = 0; from < states.length; from += perCommit) {
        commits.push(keepSome(owner, states.slice(from, from + perCommit)));
      }
      await Promise.all(commits);
    },
    owners: (states) => states.length === 0 ? Promise.resolve([]) : readOwners(store, states),
  };
}
