/** The maximum length of a catalog id or an alias in characters. */
export const MAX_NAME_LENGTH = 256;

/**
 * A catalog id: `<provider>/<model_name>`. The name may contain further slashes, as in `openrouter/meta-llama/llama-4`.
 * No part starts with a dot, so none can be `..`.
 */
const MODEL_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}(?:\/[A-Za-z0-9@_~][A-Za-z0-9._:@+~-]{0,127}){1,7}$/;

/** Whether a text is a catalog id: see {@linkcode MODEL_ID}; at most {@linkcode MAX_NAME_LENGTH} characters. */
export function isModelId(text: string): boolean {
  return text.length <= MAX_NAME_LENGTH && MODEL_ID.test(text);
}

/** The version suffixes that vendors add to a model's name: `-20260922` and `-2026-09-22`. */
const VERSION_DATE = /-20\d{2}-?\d{2}-?\d{2}$/;

/** A vendor's name of a model without the date of its version. */
export function withoutVersionDate(name: string): string {
  return name.replace(VERSION_DATE, "");
}
