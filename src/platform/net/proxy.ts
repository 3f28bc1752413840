import { Buffer } from "node:buffer";
import { type Cidr, classifyAddress, readCidr } from "./address.ts";
import type { Origin } from "./http1/wire_request.ts";

/** An HTTP proxy for requests to vendors. */
export interface Proxy {
  /** Its host; the proxy is contacted in plain text. */
  readonly hostname: string;
  /** Its TCP port. */
  readonly port: number;
  /** The value of `Proxy-Authorization` from the user and password of the proxy's address; null without. Secret. */
  readonly authorization: string | null;
}

/** The proxies by scheme, with exceptions. */
export interface Proxies {
  /** For https origins, through a tunnel. */
  readonly https: Proxy | null;
  /** For http origins. */
  readonly http: Proxy | null;
  /** Origins that are reached directly. */
  readonly exceptions: readonly ProxyException[];
}

/** One entry of `NO_PROXY`. */
export interface ProxyException {
  /** A host name including its subdomains; null for any host. */
  readonly name: string | null;
  /** A block of addresses instead of a name. */
  readonly block: Cidr | null;
  /** Null for any port. */
  readonly port: number | null;
}

/** No proxies. */
export const NO_PROXIES: Proxies = { https: null, http: null, exceptions: [] };

/**
 * Reads the proxies of the environment: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. Lower-case names take precedence,
 * as in curl.
 *
 * @param env Returns the value of a variable.
 * @param onBad Called with the name of a variable that is not a valid proxy address.
 */
export function readProxies(env: (name: string) => string | undefined, onBad: (name: string) => void): Proxies {
  const valueOf = (name: string) => [name.toLowerCase(), name].find((each) => env(each));
  const read = (name: string) => {
    const found = valueOf(name);
    if (found === undefined) return null;
    const proxy = readProxy(env(found)!);
    if (proxy === null) onBad(found);
    return proxy;
  };
  const exceptions = valueOf("NO_PROXY");
  return {
    https: read("HTTPS_PROXY"),
    http: read("HTTP_PROXY"),
    exceptions: exceptions === undefined ? [] : readExceptions(env(exceptions)!),
  };
}

/** The proxy for an origin; null for a direct connection. Loopback is always contacted directly. */
export function proxyFor({ tls, hostname, port }: Origin, proxies: Proxies): Proxy | null {
  const proxy = tls ? proxies.https : proxies.http;
  if (proxy === null || isLoopback(hostname)) return null;
  const name = hostname.toLowerCase().replace(/\.$/, "");
  return proxies.exceptions.some((exception) => isExcepted(name, port, exception)) ? null : proxy;
}

/** Parses `http://user:password@host:port`; the scheme is optional. */
function readProxy(text: string): Proxy | null {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || url.protocol !== "http:" || url.hostname === "") return null;
  const { username, password } = url;
  const credentials = `${decoded(username)}:${decoded(password)}`;
  return {
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || 80),
    authorization: username === "" ? null : `Basic ${Buffer.from(credentials).toString("base64")}`,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a password with an unescaped percent sign
  }
}

function readExceptions(text: string): ProxyException[] {
  return text.toLowerCase().split(/[\s,]+/).filter((entry) => entry !== "").map(exceptionOf);
}

function exceptionOf(entry: string): ProxyException {
  if (entry === "*") return { name: null, block: null, port: null };
  const block = blockOf(entry);
  if (block !== null) return { name: null, block, port: null };
  const [, host = entry, port] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(entry) ?? [];
  const address = blockOf(host);
  const name = address === null ? host.replace(/^\*?\./, "").replace(/\.$/, "") : null;
  return { name, block: address, port: port === undefined ? null : Number(port) };
}

function blockOf(text: string): Cidr | null {
  try {
    return readCidr(text);
  } catch {
    return null;
  }
}

function isExcepted(host: string, port: number, exception: ProxyException): boolean {
  if (exception.port !== null && exception.port !== port) return false;
  if (exception.block !== null) return classifyAddress(host, [exception.block]) === "allowed";
  return exception.name === null || host === exception.name || host.endsWith(`.${exception.name}`);
}

/** Whether a host, as it is in an address, is this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
