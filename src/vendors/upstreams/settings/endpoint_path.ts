import { vendorBaseUrl } from "../configured_vendors.ts";
import type { ProviderKind } from "../kinds.ts";

/** A base URL that ends in the path of an endpoint. */
export interface EndpointPath {
  /** The part to remove, as known from the documentation: `/chat/completions`. */
  readonly endpoint: string;
  /** The base URL without it. */
  readonly baseUrl: string;
}

/**
 * Endings that no base URL has, with the name shown to the operator. The endings of all kinds are tested for each kind.
 */
const ENDINGS: readonly (readonly [ending: RegExp, name: string])[] = [
  [/\/chat\/completions$/, "/chat/completions"],
  [/\/completions$/, "/completions"],
  [/\/responses$/, "/responses"],
  [/\/embeddings$/, "/embeddings"],
  [/\/images\/(?:generations|edits)$/, "/images/…"],
  [/\/messages(?:\/count_tokens)?$/, "/messages"],
  // Only after a version: the base URLs of some vendors end in "/models".
  [/(?<=\/v1(?:alpha|beta)?)\/models(?:\/[^/]+){0,2}$/, "/models"],
];

/** Kinds whose base URL has no version, because their paths begin with it. */
const UNVERSIONED: ReadonlySet<ProviderKind> = new Set(["anthropic", "google"]);

/** Base URLs of which it is known that a version behind them is already wrong. */
const KNOWN_URLS = [...UNVERSIONED].map((kind) => `${vendorBaseUrl(kind)}/`);

const VERSION = /\/v1(?:alpha|beta)?$/;

/**
 * Finds the path of an endpoint at the end of a base URL, as in a copied request URL.
 *
 * @param baseUrl Without a trailing slash.
 * @returns Null if there is none.
 */
export function endpointPathIn(kind: ProviderKind, baseUrl: string): EndpointPath | null {
  for (const [ending, name] of ENDINGS) {
    const base = baseUrl.replace(ending, "");
    if (base === baseUrl || !URL.canParse(base)) continue;
    const version = UNVERSIONED.has(kind) ? VERSION.exec(base)?.[0] ?? "" : "";
    return { endpoint: version + name, baseUrl: base.slice(0, base.length - version.length) };
  }
  const version = UNVERSIONED.has(kind) && KNOWN_URLS.some((known) => baseUrl.startsWith(known))
    ? VERSION.exec(baseUrl)?.[0]
    : undefined;
  return version === undefined ? null : { endpoint: version, baseUrl: baseUrl.slice(0, -version.length) };
}
