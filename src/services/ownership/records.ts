import { createHash } from "node:crypto";
import type { ReferenceKind } from "../../conversation/contract/context_reference.ts";
import { nextTurn } from "../../platform/lib/streams/loop_turns.ts";
import type { Commit, Entry, Key, Store } from "../../platform/store/store.ts";

/** The owner of state at a vendor. */
export interface Owner {
  readonly account: string;
  /** The provider that issued the id. */
  readonly provider: string;
}

/** A small record, because there is one per id: account, provider, Unix milliseconds of the write. */
type OwnerRecord = readonly [account: string, provider: string, writtenAt: number];

/** An owner as it was read, with the version to check. */
export interface OwnerEntry extends Owner {
  readonly writtenAt: number;
  readonly entry: Entry<OwnerRecord>;
}

/** The kind and the id of state at a vendor. */
export interface StateReference {
  readonly kind: ReferenceKind;
  readonly id: string;
}

/** How long an owner is stored, in milliseconds. Vendors keep responses for 30 days. */
const OWNER_TTL_MS = 35 * 86_400_000;

/** A read of more would delay the requests of others by more than some milliseconds. */
const STATES_PER_READ = 100;

/** Ids can have any length, so the key has a hash of 192 bits, for which no second id can be found. */
function ownerKey({ kind, id }: StateReference): Key {
  const hash = createHash("sha256").update(`${kind}\0${id}`).digest("base64url").slice(0, 32);
  return ["vendor_state", hash];
}

/** The owners of states, in their order; null for an id that was never issued or has expired. */
export async function readOwners(store: Store, states: readonly StateReference[]): Promise<(OwnerEntry | null)[]> {
  const owners: (OwnerEntry | null)[] = [];
  for (let from = 0; from < states.length; from += STATES_PER_READ) {
    if (from > 0) await nextTurn();
    const entries = await store.get<OwnerRecord>(states.slice(from, from + STATES_PER_READ).map(ownerKey));
    for (const entry of entries) owners.push(entry === null ? null : ownerIn(entry));
  }
  return owners;
}

function ownerIn(entry: Entry<OwnerRecord>): OwnerEntry {
  const [account, provider, writtenAt] = entry.value;
  return { account, provider, writtenAt, entry };
}

/**
 * A commit that records the owner of states. It is refused as `conflict` if one of them has an owner. Conversations do
 * not expire.
 *
 * @param now Unix milliseconds.
 */
export function addOwners(states: readonly StateReference[], { account, provider }: Owner, now: number): Commit {
  const value: OwnerRecord = [account, provider, now];
  return {
    check: states.map((state) => ({ key: ownerKey(state), version: null })),
    set: states.map((state) => ({ key: ownerKey(state), value, ...ttlOf(state) })),
  };
}

/** A commit that extends an owner's expiry. It is refused as `conflict` if the owner has changed. */
export function renewOwner(state: StateReference, { account, provider, entry }: OwnerEntry, now: number): Commit {
  const { key, version } = entry;
  const value: OwnerRecord = [account, provider, now];
  return { check: [{ key, version }], set: [{ key, value, ...ttlOf(state) }] };
}

function ttlOf({ kind }: StateReference): { ttlMs?: number } {
  return kind === "conversation" ? {} : { ttlMs: OWNER_TTL_MS };
}
