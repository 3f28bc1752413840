import { MAX_NAME_LENGTH } from "./model_name.ts";

/** Names are used in paths, so no segment may start with a dot. */
const SEGMENT = "[A-Za-z0-9@_~*][A-Za-z0-9._:@+~*-]{0,127}";
const ALIAS_NAME = new RegExp(`^${SEGMENT}(?:/${SEGMENT}){0,7}$`);

/** The expectation in error messages for invalid names. */
export const ALIAS_NAME_EXPECTATION = 'a model name of letters, digits and . _ - : / with at most one "*"';

/** Whether a text is a valid alias: the characters of model ids, and at most one `*`. */
export function isAliasName(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH && ALIAS_NAME.test(name) && name.split("*").length <= 2;
}
