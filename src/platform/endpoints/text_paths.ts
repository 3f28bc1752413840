import { CALLER_ENDPOINTS } from "./callers.ts";
import { type Endpoint, pathsOf } from "./endpoint.ts";
import { PROTOCOLS } from "./protocols.ts";

const PATHS = Object.values<Endpoint>(CALLER_ENDPOINTS).flatMap((endpoint) =>
  endpoint.method === "POST" && endpoint.format !== undefined ? pathsOf(endpoint) : []
);
const CONTENT = `${PROTOCOLS.content.root}/`;
const PLAIN: ReadonlySet<string> = new Set(PATHS.filter((path) => !path.includes(":")));
/** What follows the name of a model: `:generateContent`. */
const VERBS: ReadonlySet<string> = new Set(
  PATHS.flatMap((path) => path.includes(":") ? [path.slice(path.lastIndexOf(":"))] : []),
);

/**
 * Whether a path, as it was sent, is that of a text request, whose body can be large. It may miss a path that a client
 * wrote in an unusual way, and costs less than a router.
 */
export function isTextPath(path: string): boolean {
  return PLAIN.has(path) || (path.startsWith(CONTENT) && VERBS.has(path.slice(path.lastIndexOf(":"))));
}
