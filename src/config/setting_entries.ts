import type * as z from "zod";
import { camelCase } from "../platform/lib/settings/camel_case.ts";
import { codeNameOf, factsOf, fieldsOf, isSecretSetting } from "../platform/lib/settings/setting.ts";
import { type Measure, traitsOf } from "../platform/lib/settings/settings.ts";
import type { LiveSettings, PlainTree, UnsetSettings, WrittenTree } from "./tree/plain_tree.ts";
import { isSection, type Section } from "./tree/section.ts";
import { SECTION_LIST } from "./sections/sections.ts";

/**
 * Adds to the settings of an operator what follows from the entries of the settings.
 *
 * @param config What was read.
 */
export function withEntries(tree: WrittenTree, config: object): PlainTree {
  const local = settingEntries().filter(({ type }) => factsOf(type)?.isLocal).map(pathOf);
  return { ...tree, live: liveSettings(), local: new Set(local), unset: unsetSettings(config, tree.sections) };
}

/** The settings that have an environment variable, by the name of the variable: the section, and the field in it. */
export function settingsOfVariables(): ReadonlyMap<string, readonly string[]> {
  return new Map(
    settingEntries().flatMap((entry) => {
      const { variable } = factsOf(entry.type) ?? {};
      return variable === undefined ? [] : [[variable, pathOf(entry).split(".")]];
    }),
  );
}

/** A setting of a section, or a whole section that has no fields. */
interface SettingEntry {
  readonly section: string;
  /** Empty for a whole section. */
  readonly name: string;
  readonly type: z.ZodType;
  readonly isLive: boolean;
}

/** All settings but those of named entries. */
function settingEntries(): SettingEntry[] {
  return SECTION_LIST.filter(([, { names }]) => names === undefined).flatMap(([section, { schema, isLive }]) => {
    const fields = fieldsOf(schema) ?? [["", schema]];
    return fields.map(([name, type]) => ({ section, name, type, isLive: factsOf(type)?.isLive ?? isLive }));
  });
}

function pathOf({ section, name }: SettingEntry): string {
  return name === "" ? section : `${section}.${name}`;
}

function liveSettings(): LiveSettings {
  const named = SECTION_LIST.filter(([, { names, isLive }]) => names !== undefined && isLive);
  const live = new Map<string, ReadonlyMap<string, string> | null>(named.map(([section]) => [section, null]));
  for (const [section, entries] of Map.groupBy(settingEntries(), ({ section }) => section)) {
    const found = entries.filter(({ isLive }) => isLive);
    const names = found.map(({ name, type }): [string, string] => [name, codeNameOf(name, type)]);
    if (found.length > 0) live.set(section, found.length === entries.length ? null : new Map(names));
  }
  return live;
}

function unsetSettings(config: object, tree: Section): UnsetSettings {
  const read: Readonly<Record<string, unknown>> = { ...config };
  const unset: Record<string, Section> = {};
  for (const { section, name, type } of settingEntries()) {
    const [set, value] = [tree[section], read[camelCase(section)]];
    if ((name === "" ? set : isSection(set) ? set[name] : undefined) !== undefined) continue;
    const own = name === "" ? value : isSection(value) ? value[codeNameOf(name, type)] : undefined;
    (unset[section] ??= {})[name] = writtenValue(type, own);
  }
  return unset;
}

function writtenFields(fields: readonly [string, z.ZodType][], value: unknown): Section {
  const read = isSection(value) ? value : {};
  return Object.fromEntries(fields.map(([name, type]) => [name, writtenValue(type, read[codeNameOf(name, type)])]));
}

/** How much of what is read is one of what is written. */
const MEASURES: Readonly<Record<Measure, number>> = { seconds: 1_000, days: 86_400_000, bytes: 1 };

function writtenValue(type: z.ZodType, value: unknown): unknown {
  const { default: fallback = null, write } = factsOf(type) ?? {};
  const { measure } = traitsOf(type);
  if (isSecretSetting(type)) return null;
  if (value === undefined) return fallback;
  const fields = fieldsOf(type);
  if (fields !== null) return isSection(value) ? writtenFields(fields, value) : value;
  if (write !== undefined) return write(value as never);
  return typeof value === "number" && measure ? value / MEASURES[measure] : value;
}
