import * as z from "zod";
import { camelCase } from "../lib/camel_case.ts";
import { codeNameOf, factsOf, isSecretSetting } from "../lib/setting.ts";
import { type Measure, traitsOf } from "../lib/settings.ts";
import type { LiveSettings, PlainTree, WrittenTree } from "./plain_tree.ts";
import { isSection, type Section } from "./section.ts";
import { SECTION_LIST } from "./sections.ts";

/**
 * Adds to the settings of an operator what follows from the entries of the settings.
 *
 * @param config What was read.
 */
export function withEntries(tree: WrittenTree, config: object): PlainTree {
  return { ...tree, live: liveSettings(), unset: unsetSettings(config, tree.sections) };
}

function liveSettings(): LiveSettings {
  const live = new Map<string, ReadonlyMap<string, string> | null>();
  for (const [section, { schema, isLive, names }] of SECTION_LIST) {
    const fields = names === undefined ? fieldsOf(schema) : null;
    if (fields === null) {
      if (isLive) live.set(section, null);
      continue;
    }
    const found = fields.filter(([, field]) => factsOf(field)?.isLive ?? isLive);
    if (found.length === fields.length) live.set(section, null);
    else if (found.length > 0) {
      live.set(section, new Map(found.map(([name, field]) => [name, codeNameOf(name, field)])));
    }
  }
  return live;
}

function unsetSettings(config: object, tree: Section): Readonly<Record<string, Section>> {
  const read: Readonly<Record<string, unknown>> = { ...config };
  return Object.fromEntries(
    SECTION_LIST.filter(([, { names }]) => names === undefined).map(([name, { schema }]) => {
      const [set, value] = [tree[name], read[camelCase(name)]];
      const fields = fieldsOf(schema);
      if (fields === null) return [name, set === undefined ? { "": writtenValue(schema, value) } : {}];
      const unset = fields.filter(([field]) => !isSection(set) || set[field] === undefined);
      return [name, writtenFields(unset, value)];
    }),
  );
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

/** The fields of a section; null for a schema of another kind. */
function fieldsOf(schema: z.ZodType): [name: string, type: z.ZodType][] | null {
  const inner = withoutWrappers(schema);
  return inner instanceof z.ZodObject ? Object.entries(inner.shape) as [string, z.ZodType][] : null;
}

/** The schema of what an operator writes, below defaults, optional values and transformations. */
export function withoutWrappers(schema: z.ZodType): z.ZodType {
  if (
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodNullable ||
    schema instanceof z.ZodOptional
  ) return withoutWrappers(schema.unwrap() as z.ZodType);
  if (!(schema instanceof z.ZodPipe)) return schema;
  // A preprocessed value is a pipe that begins with a function.
  return withoutWrappers((schema.in instanceof z.ZodTransform ? schema.out : schema.in) as z.ZodType);
}
