import { section, setting } from "../../platform/lib/settings/setting.ts";
import { boolean, distinct, type ReadContext, text } from "../../platform/lib/settings/settings.ts";
import { MAX_FALLBACKS } from "./model_fields.ts";
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
export const aliasSchema = section({
  model: setting(target, {
    text: "A model's id or another alias; a plain text in place of the section is one as well",
    example: "openai/gpt-5.4-mini",
  }),
  fallbacks: setting(
    distinct(text(1, MAX_NAME_LENGTH), 0)
      .refine((names) => names.length <= MAX_FALLBACKS, `at most ${MAX_FALLBACKS} models`).optional(),
    {
      text: "Models to try after it failed",
      example: ["openai/gpt-5.5"],
      otherwise: "those of the model",
    },
  ),
  listed: setting(boolean(), { default: false, as: "isListed", text: "Whether the public catalogs list it" }),
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
  const { fallbacks = null, ...alias } = aliasSchema.parse(value, context);
  return { name, fallbacks, ...alias };
}
