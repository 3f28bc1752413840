import * as z from "zod";
import { ALLOWED_KINDS } from "./allowances.ts";

const REFERENCE = new RegExp(`^(${ALLOWED_KINDS.join("|")}):[\\x21-\\x7e]{1,512}$`);
const REFERENCE_EXPECTATION = `a kind, a colon and an id or *, such as "prompt:pmpt_123"; kinds: ${
  ALLOWED_KINDS.join(", ")
}`;
const TOOL_EXPECTATION = 'the name of a hosted tool, such as "code_interpreter", or "*"';

/** The `allow_references` of a provider; its messages read on from "expected". */
export function referencesSchema(): z.ZodType<string[]> {
  return z.array(z.string(REFERENCE_EXPECTATION).regex(REFERENCE, REFERENCE_EXPECTATION), "a list").default([]);
}

/** The `allow_tools` of a provider. */
export function toolsSchema(): z.ZodType<string[]> {
  return z.array(z.string(TOOL_EXPECTATION).regex(/^(\*|[a-z0-9_.-]{1,64})$/, TOOL_EXPECTATION), "a list").default([]);
}
