import { shortHash, withHash } from "../../../parts/request/sanitized_name.ts";
import { randomBase62 } from "../../../../platform/lib/basics/ids.ts";

/** Maximum length of a tool name for all models of the vendor. */
const MAX_NAME_CHARACTERS = 64;

/** The id of a call without one: `call_` and 24 characters, the same for the same seed. */
export function newCallId(seed: string): string {
  return `call_${shortHash(seed, 24)}`;
}

/** The id of a reply without one. Random, because nothing in such a reply identifies it. */
export function newReplyId(): string {
  return `gen_${randomBase62(24)}`;
}

/**
 * A tool's name in the alphabet of this format: a letter or `_` first, then letters, digits and `_ . : -`, at most 64
 * characters. A sanitized name ends with a short hash of the original, so that different names stay different.
 */
export function wireToolName(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_.:-]*$/.test(name) && name.length <= MAX_NAME_CHARACTERS) return name;
  const sanitized = name.replaceAll(/[^A-Za-z0-9_.:-]/g, "_").replace(/^(?![A-Za-z_])/, "_");
  return withHash(sanitized, name, MAX_NAME_CHARACTERS);
}
