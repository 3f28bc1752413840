import * as z from "zod";
import { ALLOWED_KINDS } from "../contract/allowances.ts";

const REFERENCE = new RegExp(`^(${ALLOWED_KINDS.join("|")}):[\\x21-\\x7e]{1,512}$`);
const REFERENCE_EXPECTATION = `a kind, a colon and an id or *, such as "prompt:pmpt_123"; kinds: ${
  ALLOWED_KINDS.join(", ")
}`;
const TOOL_EXPECTATION = 'the name of a hosted tool, such as "code_interpreter", or "*"';

/** The schema of a provider's `allow_references`. Its messages continue after "expected". */
export function referencesSchema(): z.ZodType<string[]> {
  return z.array(z.string(REFERENCE_EXPECTATION).regex(REFERENCE, REFERENCE_EXPECTATION), "a list");
}

/** The schema of a provider's `allow_tools`. */
export function toolsSchema(): z.ZodType<string[]> {
  return z.array(z.string(TOOL_EXPECTATION).regex(/^(\*|[a-z0-9_.-]{1,64})$/, TOOL_EXPECTATION), "a list");
}
