import { createHash, createHmac, randomBytes } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { concatBytes } from "../../platform/lib/bytes/concat_bytes.ts";
import type { Key, Store } from "../../platform/store/store.ts";
import {
  type ConfigDiff,
  differenceOf,
  isEmptyDiff,
  type Leaf,
  leavesBySection,
  type SectionLeaves,
} from "./config_diff.ts";
import { type ConfigTree, isLive } from "../tree/plain_tree.ts";

/**
 * The settings that were last in force on a store, so that a start can tell what changed in the file since then. Of
 * secrets it has short keyed hashes, which show a change and allow no conclusion about the secret.
 */

/** The start of the record. Its parts follow under the next keys. */
interface RecordHead {
  /** The key of the hashes of secrets, hexadecimal. */
  readonly salt: string;
  /** The SHA-256 of the settings as JSON, hexadecimal. */
  readonly hash: string;
  /** Zero if the settings are too large to be recorded. */
  readonly parts: number;
}

/** By section, entry and field. A secret is its hash. */
type RecordedLeaves = Record<string, Record<string, Record<string, { value: unknown; isSecret?: true }>>>;

const RECORD: Key = ["config", "recorded"];
const HASH_CHARACTERS = 8;
/** Leaves room in a value and in a commit for keys and the head. */
const ENVELOPE_BYTES = 1_024;

/** What {@linkcode recordSettings} found. */
export interface SettingsChange {
  /** What changed since the settings were last recorded; null if nothing did, or if they never were. */
  readonly diff: ConfigDiff | null;
  /** Records the settings. */
  save(): Promise<void>;
}

/**
 * Compares settings with those that were last recorded in the store. Accounts are left out, as they have entries of
 * their own in the audit log, and so is what differs between the gateways on one store. Of built-in models the prices
 * are compared.
 *
 * @param started The settings at the start. Those that need a restart are still in force.
 */
export async function recordSettings(
  store: Pick<Store, "get" | "commit" | "limits">,
  inForce: ConfigTree,
  started: ConfigTree = inForce,
): Promise<SettingsChange> {
  const [entry] = await store.get<RecordHead>([RECORD]);
  const head = entry?.value ?? null;
  const salt = head?.salt ?? randomBytes(16).toString("hex");
  const leaves = hashedLeaves(leavesInForce(inForce, started), salt);
  const text = JSON.stringify(leaves);
  const hash = createHash("sha256").update(text).digest("hex");
  if (head?.hash === hash) return { diff: null, save: () => Promise.resolve() };
  const before = head === null ? null : await readLeaves(store, head);
  const found = before === null ? null : differenceOf(sectionsOf(before), sectionsOf(leaves));
  const diff = found === null || isEmptyDiff(found) ? null : found;
  return { diff, save: () => writeLeaves(store, { salt, hash, text, partsBefore: head?.parts ?? 0 }) };
}

function leavesInForce(inForce: ConfigTree, started: ConfigTree): SectionLeaves {
  const [now, first] = [leavesBySection(inForce), leavesBySection(started)];
  const sections = new Map<string, Map<string, ReadonlyMap<string, Leaf>>>();
  for (const section of new Set([...now.keys(), ...first.keys()])) {
    if (section === "accounts") continue;
    const entries = new Map<string, ReadonlyMap<string, Leaf>>();
    for (const name of new Set([...now.get(section)?.keys() ?? [], ...first.get(section)?.keys() ?? []])) {
      if (inForce.local.has(`${section}.${name}`)) continue;
      const leaves = (isLive(inForce, section, name) ? now : first).get(section)?.get(name);
      if (leaves === undefined) continue;
      const isBuiltIn = inForce.ownerOf(section, name) === "built_in";
      entries.set(name, isBuiltIn ? new Map([...leaves].filter(([field]) => field.startsWith("pricing."))) : leaves);
    }
    sections.set(section, entries);
  }
  return sections;
}

function hashedLeaves(sections: SectionLeaves, salt: string): RecordedLeaves {
  const hashed = ({ value, isSecret }: Leaf) => {
    if (!isSecret) return { value };
    const digest = createHmac("sha256", salt).update(JSON.stringify(value) ?? "").digest("hex");
    return { value: digest.slice(0, HASH_CHARACTERS), isSecret: true as const };
  };
  return objectOf(sections, (entries) => objectOf(entries, (leaves) => objectOf(leaves, hashed)));
}

function sectionsOf(recorded: RecordedLeaves): SectionLeaves {
  const leafOf = ({ value, isSecret = false }: { value: unknown; isSecret?: boolean }): Leaf => ({ value, isSecret });
  return mapOf(recorded, (entries) => mapOf(entries, (leaves) => mapOf(leaves, leafOf)));
}

function objectOf<T, U>(map: ReadonlyMap<string, T>, convert: (value: T) => U): Record<string, U> {
  return Object.fromEntries([...map].map(([name, value]) => [name, convert(value)]));
}

function mapOf<T, U>(object: Readonly<Record<string, T>>, convert: (value: T) => U): Map<string, U> {
  return new Map(Object.entries(object).map(([name, value]) => [name, convert(value)]));
}

function partKey(index: number): Key {
  return [...RECORD, index];
}

/** The recorded settings; null if they were too large, or if another gateway is writing them. */
async function readLeaves(store: Pick<Store, "get">, { parts, hash }: RecordHead): Promise<RecordedLeaves | null> {
  if (parts === 0) return null;
  const found = await store.get<Uint8Array>(Array.from({ length: parts }, (_, index) => partKey(index)));
  const bytes = found.map((entry) => entry?.value ?? new Uint8Array());
  try {
    const text = new TextDecoder().decode(gunzipSync(concatBytes(bytes)));
    return createHash("sha256").update(text).digest("hex") === hash ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

async function writeLeaves(
  store: Pick<Store, "commit" | "limits">,
  { salt, hash, text, partsBefore }: {
    readonly salt: string;
    readonly hash: string;
    readonly text: string;
    readonly partsBefore: number;
  },
): Promise<void> {
  const { maxValueBytes, maxCommitBytes } = store.limits;
  const bytes = gzipSync(text);
  const partBytes = maxValueBytes - ENVELOPE_BYTES;
  const isSmall = bytes.length <= maxCommitBytes - 2 * ENVELOPE_BYTES - Math.ceil(bytes.length / partBytes) * 64;
  const parts = isSmall ? Math.ceil(bytes.length / partBytes) : 0;
  const head: RecordHead = { salt, hash, parts };
  const set = Array.from({ length: parts }, (_, index) => ({
    key: partKey(index),
    value: new Uint8Array(bytes.subarray(index * partBytes, (index + 1) * partBytes)),
  }));
  const surplus = Array.from({ length: Math.max(0, partsBefore - parts) }, (_, index) => partKey(parts + index));
  await store.commit(null, { set: [{ key: RECORD, value: head }, ...set], delete: surplus });
}
