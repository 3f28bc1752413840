import type { ConfigDiff, ValueChange } from "./config_diff.ts";

/** A difference that may be incomplete. */
export interface BoundedDiff extends ConfigDiff {
  /** The number of names and changed values that are left out; absent if there are none. */
  readonly omitted?: number;
}

/** A name or a changed value of a difference, and how it is added to another one. */
type Part = { readonly characters: number; addTo(diff: MutableDiff): void };

interface MutableDiff {
  added: Record<string, string[]>;
  removed: Record<string, string[]>;
  changed: Record<string, Record<string, Record<string, ValueChange>>>;
  restart: string[];
}

/** The punctuation of JSON around a part. */
const AROUND_PART = 12;

/**
 * Shortens a difference, so that it has a bounded size as JSON. Changed prices are kept first, then other changed
 * values, settings that need a restart, removed and added entries.
 *
 * @param maxCharacters The size of the parts that are kept, about that of the whole.
 */
export function boundedDiff(diff: ConfigDiff, maxCharacters: number): BoundedDiff {
  const kept: MutableDiff = { added: {}, removed: {}, changed: {}, restart: [] };
  let [left, omitted] = [maxCharacters, 0];
  for (const part of partsOf(diff)) {
    if (part.characters > left) {
      omitted++;
      continue;
    }
    left -= part.characters;
    part.addTo(kept);
  }
  return omitted === 0 ? diff : { ...kept, omitted };
}

function partsOf({ added, removed, changed, restart }: ConfigDiff): Part[] {
  const values = Object.entries(changed).flatMap(([section, entries]) =>
    Object.entries(entries).flatMap(([name, fields]) =>
      Object.entries(fields).map(([field, value]) => ({ section, name, field, value }))
    )
  );
  const isPrice = ({ field }: { readonly field: string }) => field.startsWith("pricing.");
  return [
    ...[...values.filter(isPrice), ...values.filter((each) => !isPrice(each))].map((
      { section, name, field, value },
    ): Part => ({
      characters: sizeOf([section, name, field, value]),
      addTo: (diff) => void (((diff.changed[section] ??= {})[name] ??= {})[field] = value),
    })),
    ...restart.map((name): Part => ({ characters: sizeOf(name), addTo: (diff) => void diff.restart.push(name) })),
    ...namesIn(removed, (diff) => diff.removed),
    ...namesIn(added, (diff) => diff.added),
  ];
}

function namesIn(
  names: Readonly<Record<string, readonly string[]>>,
  of: (diff: MutableDiff) => Record<string, string[]>,
): Part[] {
  return Object.entries(names).flatMap(([section, each]) =>
    each.map((name): Part => ({
      characters: sizeOf(name),
      addTo: (diff) => void (of(diff)[section] ??= []).push(name),
    }))
  );
}

function sizeOf(part: unknown): number {
  return JSON.stringify(part).length + AROUND_PART;
}
