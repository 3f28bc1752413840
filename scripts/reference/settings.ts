import * as z from "zod";
import { modelPatternSchema } from "../../src/vendors/catalog/model_pattern.ts";
import { SECTION_LIST } from "../../src/config/sections/sections.ts";
import { factsOf, withoutWrappers } from "../../src/platform/lib/settings/setting.ts";

/** A setting that has a value of its own, not fields. */
export interface Setting {
  /** `models[].serves[].weight`; NAME stands for a key that the operator chooses. */
  readonly path: string;
  readonly schema: z.ZodType;
  /** Whether a change takes effect without a restart. */
  readonly isLive: boolean;
}

/** The fields that a pattern of models has besides those of a model. */
export const PATTERN_FIELDS: readonly string[] = ["refresh"];

/** All settings in the order of the schemas. */
export function allSettings(): Setting[] {
  const settings = SECTION_LIST.flatMap(([name, { schema, isLive, names = "" }]) =>
    settingsIn(name + names, schema, isLive)
  );
  const known = new Set(settings.map(({ path }) => path));
  const patterns = settingsIn("models[]", modelPatternSchema, true).filter(({ path }) =>
    PATTERN_FIELDS.some((field) => path === `models[].${field}`) && !known.has(path)
  );
  const after = settings.findLastIndex(({ path }) => path.startsWith("models[]")) + 1;
  return [...settings.slice(0, after), ...patterns, ...settings.slice(after)];
}

/** Lists whose items have the fields of another section, which are described there. */
const REPEATED: ReadonlySet<string> = new Set(["models[].pricing.overrides"]);

function settingsIn(path: string, schema: z.ZodType, isSectionLive: boolean): Setting[] {
  const isLive = factsOf(schema)?.isLive ?? isSectionLive;
  const leaf = [{ path, schema, isLive }];
  if (REPEATED.has(path)) return leaf;
  const inner = withoutWrappers(schema);
  if (inner instanceof z.ZodObject) {
    return Object.entries(inner.shape).flatMap(([name, field]) =>
      settingsIn(`${path}.${name}`, field as z.ZodType, isLive)
    );
  }
  if (inner instanceof z.ZodArray) {
    const items = settingsIn(`${path}[]`, inner.element as z.ZodType, isLive);
    return isLeaf(items, `${path}[]`) ? leaf : items;
  }
  if (inner instanceof z.ZodUnion) {
    const branches = (inner.options as z.ZodType[]).map((option) => settingsIn(path, option, isLive));
    return branches.find((branch) => !isLeaf(branch, path)) ?? leaf;
  }
  return leaf;
}

function isLeaf(settings: readonly Setting[], path: string): boolean {
  return settings.length === 1 && settings[0]?.path === path;
}
