import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { type ModelFacts, UNKNOWN_FACTS } from "./model_facts.ts";

/** The names of facts in the configuration, by the fields of `ModelFacts`. */
export const FACT_NAMES: ReadonlyMap<keyof ModelFacts, string> = new Map(
  (Object.keys(UNKNOWN_FACTS) as (keyof ModelFacts)[]).map((field) => [field, snakeCase(field)]),
);

/** Some facts by their names in the configuration, for operators; unknown ones are left out. */
export function writeFacts(facts: Partial<ModelFacts>): JsonObject {
  const known = [...FACT_NAMES].filter(([field]) => facts[field] !== undefined && facts[field] !== null);
  return Object.fromEntries(known.map(([field, name]) => [name, facts[field]]));
}

function snakeCase(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
