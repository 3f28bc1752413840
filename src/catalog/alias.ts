import * as z from "zod";
import { boolean, distinct, type ReadContext, text } from "../lib/settings.ts";
import { MAX_FALLBACKS } from "./model.ts";
import { MAX_NAME_LENGTH } from "./model_name.ts";

/** Another name of a model. Source: docs/routing.md#names-of-models. */
export interface Alias {
  /** The name that callers send; one `*` in it matches any characters. */
  readonly name: string;
  /** The id of a model or another alias. A `*` is replaced by what the `*` of the name matched. */
  readonly model: string;
  /** The models to try if all providers of the model failed; null: the model's own. */
  readonly fallbacks: readonly string[] | null;
  /** Whether the public catalogs list it. Default: false. */
  readonly isListed: boolean;
}

const target = text(1, MAX_NAME_LENGTH).refine((value) => value.split("*").length <= 2, 'a name with at most one "*"');

/** The schema of an entry of `aliases` that is a section. */
export const aliasSchema = z.strictObject({
  model: target,
  fallbacks: distinct(text(1, MAX_NAME_LENGTH), 0)
    .refine((names) => names.length <= MAX_FALLBACKS, `at most ${MAX_FALLBACKS} models`).optional(),
  listed: boolean().default(false),
});

/**
 * Reads one entry of `aliases`: a model's name, or a section with it.
 *
 * @param name The key of the entry.
 * @throws {z.ZodError} With the path of every invalid field.
 */
export function readAlias(name: string, value: unknown, context?: ReadContext): Alias {
  if (typeof value === "string") {
    return { name, model: target.parse(value, context), fallbacks: null, isListed: false };
  }
  const { model, fallbacks = null, listed } = aliasSchema.parse(value, context);
  return { name, model, fallbacks, isListed: listed };
}
