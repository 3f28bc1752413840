import { readSignature, WRAPPED_SIGNATURE_PREFIX } from "../../../conversation/neutral/reasoning_signature.ts";
import { hasQuoted } from "../../../platform/lib/text/word_search.ts";
import type { Candidate } from "../../../vendors/routing/candidates.ts";
import type { TextRequest } from "./attempt.ts";

/** The start of a wrapped signature as a JSON string. */
const START = `"${WRAPPED_SIGNATURE_PREFIX}`;

/** More than the format and the maker of any signature take, in whole groups of base64. */
const MAX_HEAD_CHARACTERS = 256;

/**
 * The provider that signed the latest reasoning of a request, by its id; null if the request has none with a name. The
 * next turn is worth most there: others do not get the reasoning.
 */
function makerOf({ outlineText }: Pick<TextRequest, "outlineText">): string | null {
  const at = hasQuoted(outlineText, WRAPPED_SIGNATURE_PREFIX) ? outlineText.lastIndexOf(START) : -1;
  if (at < 0) return null;
  const value = /^[\w+/=-]+/.exec(outlineText.slice(at + 1, at + 1 + MAX_HEAD_CHARACTERS))?.[0] ?? "";
  return readSignature(value, "responses").issuer;
}

/** The candidates with the maker of the request's reasoning first. Its other credentials keep their places. */
export function makerFirst(
  candidates: readonly Candidate[],
  request: Pick<TextRequest, "outlineText">,
): readonly Candidate[] {
  if (candidates.length <= 1) return candidates;
  const maker = makerOf(request);
  const own = maker === null ? undefined : candidates.find(({ provider }) => provider === maker);
  return own === undefined ? candidates : [own, ...candidates.filter((each) => each !== own)];
}
