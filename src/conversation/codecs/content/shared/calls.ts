import { shortHash, withHash } from "../../../legal_word.ts";
import { randomBase62 } from "../../../../lib/ids.ts";

/** The longest tool name that every model of the vendor takes. */
const NAME_MAX = 64;

/** A call's id where the vendor gave none: `call_` and 24 characters, the same for the same seed. */
export function madeCallId(seed: string): string {
  return `call_${shortHash(seed, 24)}`;
}

/** An id for a reply whose vendor gave none. Random, as nothing in such a reply tells it from others. */
export function madeReplyId(): string {
  return `gen_${randomBase62(24)}`;
}

/**
 * The name under which a tool travels in this form: a letter or `_` first, then letters, digits and `_ . : -`, at most
 * 64. A name that is not legal is rewritten with a short hash of itself, so that two names never meet.
 */
export function wireToolName(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_.:-]*$/.test(name) && name.length <= NAME_MAX) return name;
  const legal = name.replaceAll(/[^A-Za-z0-9_.:-]/g, "_").replace(/^(?![A-Za-z_])/, "_");
  return withHash(legal, name, NAME_MAX);
}
