import type { ErrorRenderer, Route } from "../../../platform/http/request/inbound.ts";
import type { RequestRouter } from "../../../platform/http/request_handler.ts";
import { elementAt } from "../../../platform/lib/collections/element_at.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { createPathRewriter, type RewriteRule } from "./path_rewriter.ts";

/** A part of the paths with one error format. */
export interface PathSection {
  /** Whole segments from the root: `/msgcompat` covers `/msgcompat` and all paths below, but not `/msgcompat2`. */
  readonly prefix: string;
  readonly renderError: ErrorRenderer;
  /** Whether a client of this section sent a path outside all sections. Default: never. */
  readonly matchesHeaders?: (headers: Headers) => boolean;
  /** The correct base URLs, for the error message. Default: a reference to the documentation. */
  readonly advice?: () => string;
}

/** Rules for paths that no route serves. */
export interface RouterOptions {
  /** The longest prefix of a path decides; outside all sections, the client. */
  readonly sections: readonly PathSection[];
  /** For paths outside all sections, from clients of none. */
  readonly renderError: ErrorRenderer;
  /** As in {@linkcode PathSection}, for the same paths. */
  readonly advice?: () => string;
  /** See {@linkcode createPathRewriter}. Default: none. */
  readonly rewriteRules?: readonly RewriteRule[];
}

/** The route of a request, or the error to answer with. `address` is the path after rewriting. */
export type Match =
  & { readonly address: string }
  & (
    | { readonly route: Route; readonly params: Readonly<Record<string, string>> }
    | { readonly route: null; readonly error: GatewayError; readonly renderError: ErrorRenderer }
  );

/** Finds the route of a request. */
export interface Router {
  /**
   * Finds the route of a request. The GET route serves a HEAD request; one final slash is ignored. An unknown path is
   * `not_found`, a known path with another method `method_not_allowed`.
   *
   * @param path The path as sent, without the query.
   * @param headers Identify the client if the path does not. Default: none.
   */
  match(method: string, path: string, headers?: Headers): Match;
  /** The routes of the table, in its order. */
  readonly routes: readonly Pick<Route, "method" | "path">[];
  /** The methods of a path, in the order of the table; empty if the path is unknown. */
  methodsOf(path: string, headers?: Headers): readonly Route["method"][];
  /** The error format of a path. */
  rendererFor(path: string, headers?: Headers): ErrorRenderer;
}

/**
 * Builds the router from the table of routes. Paths without parameters are found in one look-up; the others in a tree
 * of segments. A literal has precedence over a parameter of one segment, that over `:name*`, and a verb over none. If
 * the first match lacks the method, the next match that has it is used.
 *
 * A parameter is decoded once. Its value is never empty and contains no control character, no backslash and no segment
 * `.` or `..`. Only `:name*` and a parameter named `model` can contain a slash (`%2F`). A value that cannot be decoded,
 * such as `%zz` or overlong UTF-8, matches no parameter.
 *
 * @throws {Error} If two routes have the same method and path shape, or a path is not valid.
 */
export function createRouter(routes: readonly Route[], options: RouterOptions): Router {
  const statics = new Map<string, Endpoint>();
  const root = new Branch();
  for (const route of routes) addRoute(statics, root, route);
  const rewrite = createPathRewriter(options.rewriteRules ?? [], statics.keys());
  const rewritePath = (path: string, headers: Headers) => rewrite(withPlainVerb(path), headers);
  const sections = [...options.sections].sort((a, b) => b.prefix.length - a.prefix.length);

  function sectionOf(address: string, headers: Headers): Pick<PathSection, "renderError" | "advice"> {
    const covers = ({ prefix }: PathSection) =>
      address.startsWith(prefix) && (address.length === prefix.length || address[prefix.length] === "/");
    return sections.find(covers) ?? sections.find((section) => section.matchesHeaders?.(headers)) ?? options;
  }

  return {
    routes,
    match(method, path, headers = NO_HEADERS) {
      const wanted = method === "HEAD" ? "GET" : method;
      const address = rewritePath(path, headers);
      const known = statics.get(address)?.get(wanted);
      if (known !== undefined) return { address, route: known.route, params: NO_PARAMS };
      const fits = fitsOf(statics, root, address);
      for (const { endpoint, values } of fits.list) {
        const entry = endpoint.get(wanted);
        if (entry !== undefined) return { address, route: entry.route, params: paramsOf(entry.names, values) };
      }
      const { renderError, advice } = sectionOf(address, headers);
      return { address, route: null, error: missOf(method, path, fits, advice), renderError };
    },
    methodsOf: (path, headers = NO_HEADERS) => methodsOf(fitsOf(statics, root, rewritePath(path, headers))),
    rendererFor: (path, headers = NO_HEADERS) => sectionOf(rewritePath(path, headers), headers).renderError,
  };
}

/** A router that uses the one of the configuration in force. */
export function currentRouter(router: () => RequestRouter): RequestRouter {
  return {
    match: (method, path, headers) => router().match(method, path, headers),
    methodsOf: (path, headers) => router().methodsOf(path, headers),
    rendererFor: (path, headers) => router().rendererFor(path, headers),
  };
}

/** A route and the names of its parameters in the order of the path. */
interface Entry {
  readonly route: Route;
  readonly names: readonly string[];
}

/** The routes of one path shape, by method. */
type Endpoint = Map<string, Entry>;

/** A last segment that ends in a verb or matches the rest of the path. */
interface Tail {
  /** The end of the value with its colon; empty for none. */
  readonly verb: string;
  readonly takesRest: boolean;
  readonly takesSlash: boolean;
  readonly endpoint: Endpoint;
}

class Branch {
  readonly literals = new Map<string, Branch>();
  /** Parameters of one segment. Those that can contain a decoded slash are separate and come second. */
  parameter: Branch | null = null;
  slashedParameter: Branch | null = null;
  /** Longest verb first, one segment before the rest of the path. */
  readonly tails: Tail[] = [];
  /** The endpoint of a path that ends here. */
  readonly endpoint: Endpoint = new Map();
}

/** All path shapes that match, best first, and the methods of verbs that did not match. */
interface Fits {
  readonly list: { endpoint: Endpoint; values: readonly string[] }[];
  readonly missedVerbs: Set<string>;
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});
const NO_HEADERS = new Headers();
const PARAMETER = /^:([a-z_]\w*)$/i;
const TAIL = /^:([a-z_]\w*)(?:(\*)(:[a-z_]\w*)?|:(:[a-z_]\w*))$/i;

function addRoute(statics: Map<string, Endpoint>, root: Branch, route: Route): void {
  if (!route.path.startsWith("/")) throw new Error(`Cannot route "${route.path}": expected a path from the root`);
  const names: string[] = [];
  const endpoint = route.path.includes(":") ? endpointOf(root, route.path, names) : staticEndpoint(statics, route.path);
  if (endpoint.has(route.method)) throw new Error(`Cannot route ${route.method} "${route.path}" twice`);
  endpoint.set(route.method, { route, names });
}

function staticEndpoint(statics: Map<string, Endpoint>, path: string): Endpoint {
  const endpoint = statics.get(path) ?? new Map();
  statics.set(path, endpoint);
  return endpoint;
}

function endpointOf(root: Branch, path: string, names: string[]): Endpoint {
  const segments = path.slice(1).split("/");
  let branch = root;
  for (const [index, segment] of segments.entries()) {
    if (!segment.startsWith(":")) {
      branch = literalOf(branch, segment);
      continue;
    }
    const name = PARAMETER.exec(segment)?.[1];
    if (name !== undefined) {
      names.push(name);
      branch = name === "model" ? (branch.slashedParameter ??= new Branch()) : (branch.parameter ??= new Branch());
      continue;
    }
    const tail = TAIL.exec(segment) ?? [];
    const [, tailName, star] = tail;
    if (tailName === undefined || index !== segments.length - 1) {
      throw new Error(`Cannot route "${path}": see "${segment}"`);
    }
    names.push(tailName);
    return tailOf(branch, tail[3] ?? tail[4] ?? "", star === "*", star === "*" || tailName === "model");
  }
  return branch.endpoint;
}

function literalOf(branch: Branch, segment: string): Branch {
  const next = branch.literals.get(segment) ?? new Branch();
  branch.literals.set(segment, next);
  return next;
}

function tailOf(branch: Branch, verb: string, takesRest: boolean, takesSlash: boolean): Endpoint {
  const same = (tail: Tail) => tail.verb === verb && tail.takesRest === takesRest && tail.takesSlash === takesSlash;
  const known = branch.tails.find(same);
  if (known !== undefined) return known.endpoint;
  const endpoint: Endpoint = new Map();
  branch.tails.push({ verb, takesRest, takesSlash, endpoint });
  branch.tails.sort((a, b) => b.verb.length - a.verb.length || Number(a.takesRest) - Number(b.takesRest));
  return endpoint;
}

function fitsOf(statics: ReadonlyMap<string, Endpoint>, root: Branch, sent: string): Fits {
  const path = sent.length > 1 && sent.endsWith("/") ? sent.slice(0, -1) : sent;
  const fits: Fits = { list: [], missedVerbs: new Set() };
  const endpoint = statics.get(path);
  if (endpoint !== undefined) fits.list.push({ endpoint, values: [] });
  walk(root, path.slice(1).split("/"), 0, [], fits);
  return fits;
}

function walk(branch: Branch, segments: readonly string[], index: number, values: readonly string[], fits: Fits): void {
  const segment = segments[index];
  if (segment === undefined) {
    if (branch.endpoint.size > 0) fits.list.push({ endpoint: branch.endpoint, values });
    return;
  }
  const isLast = index === segments.length - 1;
  const literal = branch.literals.get(segment);
  if (literal !== undefined) walk(literal, segments, index + 1, values, fits);
  for (const tail of branch.tails) if (tail.verb !== "") fitTail(tail, segments, index, values, fits);
  for (const [next, takesSlash] of [[branch.parameter, false], [branch.slashedParameter, true]] as const) {
    if (next === null || (isLast && next.endpoint.size === 0)) continue;
    const value = valueOf(segment, takesSlash);
    if (value !== null) walk(next, segments, index + 1, [...values, value], fits);
  }
  for (const tail of branch.tails) if (tail.verb === "") fitTail(tail, segments, index, values, fits);
}

function fitTail(tail: Tail, segments: readonly string[], index: number, values: readonly string[], fits: Fits): void {
  if (!tail.takesRest && index !== segments.length - 1) return;
  const rest = segments.slice(index).join("/");
  if (!rest.endsWith(tail.verb)) {
    for (const method of tail.endpoint.keys()) fits.missedVerbs.add(method);
    return;
  }
  const value = valueOf(rest.slice(0, rest.length - tail.verb.length), tail.takesSlash);
  if (value !== null) fits.list.push({ endpoint: tail.endpoint, values: [...values, value] });
}

/** The decoded value of a parameter; null if it is not valid. */
function valueOf(sent: string, takesSlash: boolean): string | null {
  const value = decoded(sent);
  // deno-lint-ignore no-control-regex
  if (value === null || /[\x00-\x1f\x7f\\]/.test(value)) return null;
  if (!value.includes("/")) return isSegment(value) ? value : null;
  return takesSlash && value.split("/").every(isSegment) ? value : null;
}

function isSegment(value: string): boolean {
  return value !== "" && value !== "." && value !== "..";
}

function decoded(sent: string): string | null {
  if (!sent.includes("%")) return sent;
  try {
    return decodeURIComponent(sent);
  } catch {
    return null;
  }
}

/** A colon before a verb may be encoded: clients that build a URL from segments do so (RFC 3986, 3.3). */
function withPlainVerb(path: string): string {
  return path.includes("%3") ? path.replace(/%3a(?=[a-z]+$)/i, ":") : path;
}

function paramsOf(names: readonly string[], values: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name, index) => [name, elementAt(values, index)]));
}

function methodsOf(fits: Fits): Route["method"][] {
  const methods = fits.list.flatMap(({ endpoint }) => [...endpoint.values()].map((entry) => entry.route.method));
  return [...new Set(methods)];
}

function missOf(method: string, path: string, fits: Fits, advice = () => "see the list of endpoints"): GatewayError {
  const allow = methodsOf(fits);
  // If verbs have this method, a path without a known verb is unknown, even if GET would serve it.
  if (allow.length === 0 || fits.missedVerbs.has(method)) {
    return new GatewayError("not_found", `Cannot find "${shownPath(path)}": ${advice()}`);
  }
  return new GatewayError("method_not_allowed", methodMessage(method, allow), { allow });
}

/** Methods are an open set (RFC 9110, 9.1), so that an unknown one could be any text: it is not repeated. */
function methodMessage(method: string, allow: readonly string[]): string {
  const got = /^[A-Z]{1,10}$/.test(method) ? `, got ${method}` : "";
  return `Cannot serve this method here: expected ${allow.join(" or ")}${got}`;
}

const MAX_SHOWN_PATH_CHARACTERS = 100;

/** A path in a message: one line, cut to a maximum length. */
function shownPath(path: string): string {
  const shown = path.replace(/[^\x20-\x7e]/g, "?");
  return shown.length > MAX_SHOWN_PATH_CHARACTERS ? `${shown.slice(0, MAX_SHOWN_PATH_CHARACTERS)}…` : shown;
}
