import type { ErrorRenderer, Route } from "../http/inbound.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import { createReaddress, type Guess } from "./path_rewriter.ts";

/** A part of the address space that reports failures in one shape. */
export interface Section {
  /** Whole segments from the root: `/msgcompat` covers `/msgcompat` and all below, but not `/msgcompat2`. */
  readonly prefix: string;
  readonly renderError: ErrorRenderer;
  /** Whether a path outside of every section was sent by a client of this one. Default: never. */
  readonly isClients?: (headers: Headers) => boolean;
  /** What a caller is told of the right addresses here. Default: nothing but the documentation. */
  readonly advice?: () => string;
}

/** How addresses that no route serves are answered. */
export interface RouterOptions {
  /** The longest prefix that covers a path decides; outside of every section, the client. */
  readonly sections: readonly Section[];
  /** For paths outside of every section by clients of none. */
  readonly renderError: ErrorRenderer;
  /** As in {@linkcode Section}, for the same paths. */
  readonly advice?: () => string;
  /** Addresses that stand for others; see {@linkcode createReaddress}. Default: none. */
  readonly guesses?: readonly Guess[];
}

/**
 * A route that serves the request, or the failure to answer with. `address` is the path that was looked up, in which a
 * guess is replaced by what it stands for.
 */
export type Match =
  & { readonly address: string }
  & (
    | { readonly route: Route; readonly params: Readonly<Record<string, string>> }
    | { readonly route: null; readonly error: GatewayError; readonly renderError: ErrorRenderer }
  );

/** The address table, ready to ask. */
export interface Router {
  /**
   * Finds the route of a request. A HEAD request is served by the GET route; one slash at the end of the path is
   * overlooked. An unknown path is `not_found`, a known one with another method `method_not_allowed`.
   *
   * @param path As sent, without the query.
   * @param headers Tell whose client sent it where the path leaves that open. Default: none.
   */
  match(method: string, path: string, headers?: Headers): Match;
  /** The methods that a path has, in the order of the table; empty when the path is unknown. */
  methodsOf(path: string, headers?: Headers): readonly Route["method"][];
  /** The shape in which failures under a path are reported. */
  rendererFor(path: string, headers?: Headers): ErrorRenderer;
}

/**
 * Builds the router from the address table. Paths without parameters are found in one look; the others in a tree of
 * segments, where a literal goes before a parameter of one segment, that before `:name*`, and a verb before none.
 * When the first fit lacks the method, the next one that has it serves.
 *
 * A parameter is decoded once. Its value is never empty, holds no control character, no backslash and no segment `.`
 * or `..`; a slash (`%2F`) is taken only by `:name*` and by a parameter named `model`. What does not decode, as `%zz`
 * or overlong UTF-8, fits no parameter.
 *
 * @throws {Error} If two routes have the same method and the same shape of path, or a path cannot be read.
 */
export function createRouter(routes: readonly Route[], options: RouterOptions): Router {
  const statics = new Map<string, Endpoint>();
  const root = new Branch();
  for (const route of routes) addRoute(statics, root, route);
  const readdress = createReaddress(options.guesses ?? [], statics.keys());
  const sections = [...options.sections].sort((a, b) => b.prefix.length - a.prefix.length);

  function sectionOf(address: string, headers: Headers): Pick<Section, "renderError" | "advice"> {
    const covers = ({ prefix }: Section) =>
      address.startsWith(prefix) && (address.length === prefix.length || address[prefix.length] === "/");
    return sections.find(covers) ?? sections.find((section) => section.isClients?.(headers)) ?? options;
  }

  return {
    match(method, path, headers = NO_HEADERS) {
      const wanted = method === "HEAD" ? "GET" : method;
      const address = readdress(path, headers);
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
    methodsOf: (path, headers = NO_HEADERS) => methodsOf(fitsOf(statics, root, readdress(path, headers))),
    rendererFor: (path, headers = NO_HEADERS) => sectionOf(readdress(path, headers), headers).renderError,
  };
}

/** A route and the names of its parameters in the order of the path. */
interface Entry {
  readonly route: Route;
  readonly names: readonly string[];
}

/** The routes of one shape of path, by method. */
type Endpoint = Map<string, Entry>;

/** A last segment that ends in a verb or takes the rest of the path. */
interface Tail {
  /** What the value ends in, its colon included; empty for none. */
  readonly verb: string;
  readonly takesRest: boolean;
  readonly takesSlash: boolean;
  readonly endpoint: Endpoint;
}

class Branch {
  readonly literals = new Map<string, Branch>();
  /** For parameters of one segment; those that take a decoded slash are apart and come second. */
  parameter: Branch | null = null;
  slashedParameter: Branch | null = null;
  /** Longest verb first, one segment before the rest. */
  readonly tails: Tail[] = [];
  /** Where a path may end. */
  readonly endpoint: Endpoint = new Map();
}

/** Every shape that fits a path, best first, and the methods of verbs that were looked for in vain. */
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
    const tail = TAIL.exec(segment);
    if (tail === null || index !== segments.length - 1) throw new Error(`Cannot route "${path}": see "${segment}"`);
    names.push(tail[1]);
    return tailOf(branch, tail[3] ?? tail[4] ?? "", tail[2] === "*", tail[2] === "*" || tail[1] === "model");
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
  if (index === segments.length) {
    if (branch.endpoint.size > 0) fits.list.push({ endpoint: branch.endpoint, values });
    return;
  }
  const segment = segments[index];
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

/** The value of a parameter, null when it is none. */
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

function paramsOf(names: readonly string[], values: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name, index) => [name, values[index]]));
}

function methodsOf(fits: Fits): Route["method"][] {
  const methods = fits.list.flatMap(({ endpoint }) => [...endpoint.values()].map((entry) => entry.route.method));
  return [...new Set(methods)];
}

function missOf(method: string, path: string, fits: Fits, advice = () => "see the list of endpoints"): GatewayError {
  const allow = methodsOf(fits);
  // Where verbs take this method, a path without a known verb is a path unknown, whatever a catalog would say to GET.
  if (allow.length === 0 || fits.missedVerbs.has(method)) {
    return new GatewayError("not_found", `Cannot find "${shownPath(path)}": ${advice()}`);
  }
  return new GatewayError("method_not_allowed", `Cannot serve this method here: expected ${allow.join(" or ")}`, {
    allow,
  });
}

const LONGEST_SHOWN_PATH = 100;

/** A path in a message: never longer than a line, never more than one. */
function shownPath(path: string): string {
  const shown = path.replace(/[^\x20-\x7e]/g, "?");
  return shown.length > LONGEST_SHOWN_PATH ? `${shown.slice(0, LONGEST_SHOWN_PATH)}…` : shown;
}
