import type { ProviderKind } from "./kinds.ts";

/** A base address that ends in more than a base address has. */
export interface EndpointPath {
  /** What is too much, as people know it: `/chat/completions`. */
  readonly surplus: string;
  /** The address without it. */
  readonly baseUrl: string;
}

/** Endings that no base address has, with the name that they are told by; those of every kind are tried for each. */
const ENDINGS: readonly (readonly [ending: RegExp, name: string])[] = [
  [/\/chat\/completions$/, "/chat/completions"],
  [/\/completions$/, "/completions"],
  [/\/responses$/, "/responses"],
  [/\/embeddings$/, "/embeddings"],
  [/\/images\/(?:generations|edits)$/, "/images/…"],
  [/\/messages(?:\/count_tokens)?$/, "/messages"],
  // Behind a version only: some vendors' base addresses end in "/models".
  [/(?<=\/v1(?:alpha|beta)?)\/models(?:\/[^/]+){0,2}$/, "/models"],
];

/** Of these kinds the base address has no version: their paths begin with it. */
const UNVERSIONED: ReadonlySet<ProviderKind> = new Set(["anthropic", "google"]);

/** Hosts whose base address is known, so that a version alone is too much there. */
const OWN_HOST = /^https:\/\/(?:api\.anthropic\.com|generativelanguage\.googleapis\.com)\//;

const VERSION = /\/v1(?:alpha|beta)?$/;

/**
 * Finds the path of an endpoint at the end of a base address, as it is when someone copies the address of a request.
 *
 * @param baseUrl Without a closing slash.
 * @returns Null when there is none.
 */
export function endpointPathIn(kind: ProviderKind, baseUrl: string): EndpointPath | null {
  for (const [ending, name] of ENDINGS) {
    const base = baseUrl.replace(ending, "");
    if (base === baseUrl || !URL.canParse(base)) continue;
    const version = UNVERSIONED.has(kind) ? VERSION.exec(base)?.[0] ?? "" : "";
    return { surplus: version + name, baseUrl: base.slice(0, base.length - version.length) };
  }
  const version = UNVERSIONED.has(kind) && OWN_HOST.test(baseUrl) ? VERSION.exec(baseUrl)?.[0] : undefined;
  return version === undefined ? null : { surplus: version, baseUrl: baseUrl.slice(0, -version.length) };
}
