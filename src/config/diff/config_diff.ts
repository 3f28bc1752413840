import { type ConfigTree, isLive } from "../tree/plain_tree.ts";
import { isSection, type Section } from "../tree/section.ts";
import { isSecretPath } from "../tree/setting_path.ts";
import { shownStore } from "../tree/store_address.ts";

/** A changed value: before and after, null where it was or is not set. A secret is only `changed`. */
export type ValueChange = { readonly before: unknown; readonly after: unknown } | "changed";

/** The difference of two configurations, without secrets. */
export interface ConfigDiff {
  /** Names of entries by section: providers, models, aliases, accounts. */
  readonly added: Readonly<Record<string, readonly string[]>>;
  readonly removed: Readonly<Record<string, readonly string[]>>;
  /** By section, then by entry, then by field: `models`, `acme/one`, `pricing.prompt`. */
  readonly changed: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, ValueChange>>>>>>;
  /** Changed settings that take effect at the next start: `server.port`. */
  readonly restart: readonly string[];
}

/** Sections that consist of named entries. In the others each field is an entry. */
const NAMED_SECTIONS: ReadonlySet<string> = new Set(["providers", "models", "aliases", "accounts"]);

/**
 * Compares configurations.
 *
 * @param started The configuration at the start, which settles what needs a restart.
 */
export function diffOf(before: ConfigTree, after: ConfigTree, started: ConfigTree): ConfigDiff {
  return differenceOf(leavesBySection(before), leavesBySection(after), started);
}

/**
 * Compares the values of configurations.
 *
 * @param started The configuration at the start, which decides what needs a restart. Default: every change is active.
 */
export function differenceOf(old: SectionLeaves, next: SectionLeaves, started: ConfigTree | null = null): ConfigDiff {
  const first = started && leavesBySection(started);
  const added: Record<string, string[]> = {};
  const removed: Record<string, string[]> = {};
  const changed: Record<string, Record<string, Record<string, ValueChange>>> = {};
  const restart: string[] = [];
  for (const section of new Set([...old.keys(), ...next.keys(), ...first?.keys() ?? []])) {
    const [from, to] = [old.get(section) ?? NO_ENTRIES, next.get(section) ?? NO_ENTRIES];
    const start = first?.get(section) ?? NO_ENTRIES;
    for (const name of new Set([...from.keys(), ...to.keys(), ...start.keys()])) {
      if (started !== null && !isLive(started, section, name)) {
        const changes = changesOf(start.get(name), to.get(name));
        if (Object.keys(changes).length > 0) restart.push(name === "" ? section : `${section}.${name}`);
        continue;
      }
      const [one, other] = [from.get(name), to.get(name)];
      if (NAMED_SECTIONS.has(section) && (one === undefined || other === undefined)) {
        if (one !== undefined) (removed[section] ??= []).push(name);
        if (other !== undefined) (added[section] ??= []).push(name);
        continue;
      }
      const changes = changesOf(one, other);
      if (Object.keys(changes).length > 0) (changed[section] ??= {})[name] = changes;
    }
  }
  return { added, removed, changed, restart };
}

/** Whether a difference has nothing that is in force. What needs a restart changes with the next start. */
export function isEmptyDiff({ added, removed, changed }: ConfigDiff): boolean {
  return [added, removed, changed].every((part) => Object.keys(part).length === 0);
}

/** Returns a difference without the changed values of an account; the same one if it has none. */
export function diffWithoutAccount<D extends Pick<ConfigDiff, "changed">>(diff: D, account: string): D {
  const { accounts = {}, ...others } = diff.changed;
  if (!Object.hasOwn(accounts, account)) return diff;
  const { [account]: _, ...kept } = accounts;
  return { ...diff, changed: { ...others, accounts: kept } };
}

/** A value at a path below an entry. */
export interface Leaf {
  readonly value: unknown;
  readonly isSecret: boolean;
}

type Leaves = ReadonlyMap<string, Leaf>;

/** All values of a configuration by section, entry and field: `models`, `acme/one`, `pricing.prompt`. */
export type SectionLeaves = ReadonlyMap<string, ReadonlyMap<string, Leaves>>;

const NO_ENTRIES: ReadonlyMap<string, Leaves> = new Map();

function changesOf(before: Leaves | undefined, after: Leaves | undefined): Record<string, ValueChange> {
  const changes: Record<string, ValueChange> = {};
  for (const field of new Set([...before?.keys() ?? [], ...after?.keys() ?? []])) {
    const [one, other] = [before?.get(field), after?.get(field)];
    if (JSON.stringify(one?.value) === JSON.stringify(other?.value)) continue;
    const isSecret = one?.isSecret === true || other?.isSecret === true;
    changes[field === "" ? "value" : field] = isSecret
      ? "changed"
      : { before: one?.value ?? null, after: other?.value ?? null };
  }
  return changes;
}

/** Returns all values of a configuration. */
export function leavesBySection(tree: ConfigTree): SectionLeaves {
  const sections = new Map<string, Map<string, Leaves>>();
  for (const [section, within] of Object.entries(tree.sections)) {
    const entries = new Map<string, Leaves>();
    sections.set(section, entries);
    for (const [name, value, path] of namedEntries(section, within)) entries.set(name, leavesOf(value, path, tree));
  }
  return sections;
}

/** The entries of a section with their names and paths. A setting without fields is an entry without a name. */
export function namedEntries(section: string, within: unknown): [string, unknown, readonly PropertyKey[]][] {
  if (Array.isArray(within)) {
    return within.map((each, index) => {
      const name = isSection(each) && typeof each.id === "string" ? each.id : String(index);
      return [name, each, [section, index]];
    });
  }
  if (isSection(within)) return Object.entries(within).map(([name, value]) => [name, value, [section, name]]);
  return [["", within, [section]]];
}

function leavesOf(value: unknown, path: readonly PropertyKey[], tree: ConfigTree): Leaves {
  const leaves = new Map<string, Leaf>();
  const add = (each: unknown, field: string, at: readonly PropertyKey[]) => {
    const parts = partsOf(each);
    if (parts === null) {
      return void leaves.set(field, { value: each, isSecret: isSecretPath(at) || tree.isPrivate(at) });
    }
    for (const [key, item, label] of parts) add(item, field === "" ? label : `${field}.${label}`, [...at, key]);
  };
  add(value, "", path);
  return leaves;
}

/** The parts of a map, or of a list that contains maps, with labels; null for anything else. */
function partsOf(value: unknown): [key: PropertyKey, item: unknown, label: string][] | null {
  if (Array.isArray(value)) {
    if (!value.some(isSection)) return null;
    const names = value.map(nameOf);
    return value.map((each, index) => [index, each, labelAt(index, names)]);
  }
  return isSection(value) ? Object.entries(value).map(([key, item]) => [key, item, key]) : null;
}

function nameOf(item: unknown): string | null {
  return isSection(item) && typeof item.name === "string" ? item.name : null;
}

/** The name of an item, if no other has it and it cannot be taken for a position; else its position. */
function labelAt(index: number, names: readonly (string | null)[]): string {
  const name = names[index] ?? null;
  const isLabel = name !== null && !/^\d+$/.test(name) && names.indexOf(name) === names.lastIndexOf(name);
  return isLabel ? name : String(index);
}

/** A setting for the operator's eyes: secrets are replaced. */
export function withoutSecrets(value: unknown, path: readonly PropertyKey[], tree: ConfigTree): unknown {
  const parts = partsOf(value);
  // A list of keys, and an item of it with settings, is shown without the keys.
  const isKeyList = parts !== null && (Array.isArray(value) || typeof path.at(-1) === "number");
  if (isSecretPath(path) && !isKeyList) return "(set)";
  if (parts === null) {
    if (tree.isPrivate(path)) return "(from the environment)";
    return path[0] === "store" ? shownStore(String(value)) : value;
  }
  const shown = parts.map(([key, item]) => [key, withoutSecrets(item, [...path, key], tree)] as const);
  if (Array.isArray(value)) return shown.map(([, item]) => item);
  return Object.fromEntries(shown) as Section;
}
