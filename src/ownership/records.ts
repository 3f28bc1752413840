import { createHash } from "node:crypto";
import type { ReferenceKind } from "../conversation/context_reference.ts";
import type { Commit, Entry, Key, Store } from "../store/store.ts";

/** To whom state at a vendor belongs. */
export interface Owner {
  readonly account: string;
  /** The provider that named it. */
  readonly provider: string;
}

/** Kept small, as there is one for each id: account, provider, Unix milliseconds of the write. */
type OwnerRecord = readonly [account: string, provider: string, writtenAt: number];

/** An owner as it was read, with the version to check. */
export interface OwnerEntry extends Owner {
  readonly writtenAt: number;
  readonly entry: Entry<OwnerRecord>;
}

/** An id and what it names. */
export interface StateReference {
  readonly kind: ReferenceKind;
  readonly id: string;
}

/** How long an owner is kept, in milliseconds: vendors keep responses for 30 days. */
const OWNER_TTL_MS = 35 * 86_400_000;

/** Ids are of any length, so that the key holds a hash: 192 bits, which nobody can find a second id for. */
function ownerKey({ kind, id }: StateReference): Key {
  const hash = createHash("sha256").update(`${kind}\0${id}`).digest("base64url").slice(0, 32);
  return ["vendor_state", hash];
}

/** The owners of states, in their order; null for one that was never handed out, or too long ago. */
export async function readOwners(store: Store, states: readonly StateReference[]): Promise<(OwnerEntry | null)[]> {
  const entries = await store.get<OwnerRecord>(states.map(ownerKey));
  return entries.map((entry) => {
    if (entry === null) return null;
    const [account, provider, writtenAt] = entry.value;
    return { account, provider, writtenAt, entry };
  });
}

/**
 * The commit that gives states to an owner, refused as `conflict` when one of them has an owner. Conversations have no
 * end.
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

/** The commit that keeps an owner for as long again, refused as `conflict` when it has changed. */
export function renewOwner(state: StateReference, { account, provider, entry }: OwnerEntry, now: number): Commit {
  const { key, version } = entry;
  const value: OwnerRecord = [account, provider, now];
  return { check: [{ key, version }], set: [{ key, value, ...ttlOf(state) }] };
}

function ttlOf({ kind }: StateReference): { ttlMs?: number } {
  return kind === "conversation" ? {} : { ttlMs: OWNER_TTL_MS };
}
