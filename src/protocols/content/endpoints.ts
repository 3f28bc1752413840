import type { Endpoint } from "../../http/lazy_routes.ts";

/** What follows the name of a model in the paths of texts. */
export const TEXT_VERBS = ["generateContent", "streamGenerateContent", "countTokens"] as const;

/** The versions that clients default to. */
const BASES = ["/gencompat/v1beta", "/gencompat/v1"];

/** The paths of a verb, with and without `models/`, which one popular client leaves out when the id has a slash. */
export function textPathsOf(verb: typeof TEXT_VERBS[number]): string[] {
  return BASES.flatMap((base) => [`${base}/models/:model*:${verb}`, `${base}/:model*:${verb}`]);
}

/** The text endpoints of the content protocol. */
export const CONTENT_ENDPOINTS: readonly Endpoint[] = TEXT_VERBS.flatMap((verb) =>
  textPathsOf(verb).map((path) => ({ method: "POST", path }))
);
