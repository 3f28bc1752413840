import { sanitizeName } from "../../../sanitized_name.ts";

/**
 * A tool's name in the alphabet of this format: letters, digits, `_` and `-`, at most 64 characters.
 * Source: Chat Completions reference, "Tools".
 */
export function wireToolName(name: string): string {
  return sanitizeName(name, 64);
}
