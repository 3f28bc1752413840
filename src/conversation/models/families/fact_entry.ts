import type { ModelFacts } from "../../facts/model_facts.ts";

/** What a vendor documents about some of its models, with the source and the time at which it was read. */
export interface FactEntry {
  /**
   * Names of models as {@linkcode comparableName} writes them; `*` stands for any text. A dated id has the facts of the
   * name without its date.
   */
  readonly models: readonly string[];
  /** The document or the public report that says so. */
  readonly source: string;
  /** The month in which the source was read, as `2026-11`. */
  readonly seen: string;
  /** What holds for these models. Later entries of a family override earlier ones, field by field. */
  readonly facts: Partial<ModelFacts>;
}

/** A part of the facts of one model, and where it comes from. */
export interface FactLayer {
  /** Where they come from, for operators. */
  readonly source: string;
  /** What holds. */
  readonly facts: Partial<ModelFacts>;
}

/**
 * Returns the facts that a family has for a model, the most general first; empty for a name of another family.
 *
 * @param name As {@linkcode comparableName} writes it.
 */
export function layersIn(family: readonly FactEntry[], name: string): FactLayer[] {
  const layers: FactLayer[] = [];
  for (const { models, source, seen, facts } of family) {
    if (models.some((pattern) => matchesModel(pattern, name))) layers.push({ source: `${source} (${seen})`, facts });
  }
  return layers;
}

/** Whether a pattern of a model's name, in which `*` stands for any text, matches a name. */
export function matchesModel(pattern: string, name: string): boolean {
  return expressionOf(pattern).test(name);
}

const expressions = new Map<string, RegExp>();

/** Compiles each pattern once. Patterns come from the built-in facts and from the configuration. */
function expressionOf(pattern: string): RegExp {
  const known = expressions.get(pattern);
  if (known !== undefined) return known;
  const text = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*");
  const expression = new RegExp(`^${text}$`);
  expressions.set(pattern, expression);
  return expression;
}

/** Where a model runs, and who made it: prefixes of names at Bedrock, Vertex AI and relays. */
const PREFIXES =
  /^(?:ft:)?(?:.*\/)?(?:(?:global|us|eu|au|jp|apac|us-gov)\.)?(?:(?:anthropic|openai|mistral|deepseek)\.)?/;

/** A version of the vendor's API behind a name. */
const VERSION_OF_API = /-v\d+$/;
const DATE = /[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|\d{2}-\d{2}|latest|default)$/;

/**
 * Returns a model's name as the patterns of facts have it: in lower case, without its maker, region, date and build
 * (`us.anthropic.claude-opus-4-8-20260514-v1:0` is `claude-opus-4-8`). Names of Claude have hyphens in versions.
 *
 * @param name The vendor's name of the model, or a catalog id.
 */
export function comparableName(name: string): string {
  const bare = withoutBuild(name.toLowerCase().replace(PREFIXES, "")).replace(VERSION_OF_API, "").replace(DATE, "");
  return bare.startsWith("claude-") ? bare.replaceAll(".", "-") : bare;
}

/** A name without what is behind a colon: a build, or a variant at a relay. */
function withoutBuild(name: string): string {
  const colon = name.indexOf(":", name.lastIndexOf("/") + 1);
  return colon < 0 ? name : name.slice(0, colon);
}

/** What vendors add to a model's name for a version of it: a stage, a date, or a number. */
const VERSION = /[-@](?:preview|exp|latest|default|\d{3,4}|\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{2}-\d{4})$/;
const MAX_VERSIONS = 3;

/** Returns a model's name without the version behind it: `gemini-2.5-flash` of `gemini-2.5-flash-preview-09-2025`. */
export function unversionedName(name: string): string {
  let bare = name;
  for (let place = 0; place < MAX_VERSIONS; place++) bare = bare.replace(VERSION, "");
  return bare;
}

/** Whether two names, the vendor's or those of the catalog, are those of one model in some version. */
export function isSameModel(one: string, other: string): boolean {
  return one === other || unversionedName(comparableName(one)) === unversionedName(comparableName(other));
}
