import { lookup } from "node:dns/promises";
import { type Clock, systemClock } from "../lib/basics/clock.ts";
import { type AddressClass, type Cidr, classifyAddress, isReachable } from "./address.ts";
import { EgressError, refusal } from "./egress_error.ts";
import { isOwnMistake } from "./http1/connection_error.ts";

/** Resolves a name to all its addresses, IPv4 and IPv6. Rejects with the code `ENOTFOUND` if it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** An address of the gateway itself, local or public. */
export interface OwnAddress {
  /** A name or an address in lower case, without brackets. */
  readonly host: string;
  readonly port: number;
}

/** The operator's egress settings. Source: docs/configuration-reference.md. */
export interface EgressPolicy {
  /** Blocks that are exempt from the rules for addresses and local names. */
  readonly allow: readonly Cidr[];
  /** Never connected to, even if allowed. */
  readonly own: readonly OwnAddress[];
  /** The maximum length of an address in characters. Default 2048. */
  readonly maxUrlLength?: number;
  /** Default: the system's resolver. */
  readonly resolve?: Resolve;
  /** Root certificates trusted in addition to the platform's, in PEM. */
  readonly caCertificates?: readonly string[];
  readonly clock?: Clock;
}

/** The accepted schemes of an address. */
export type Schemes = readonly ("https:" | "http:")[];

/** An address that satisfies every rule, with the IP addresses to connect to. */
export interface VettedTarget {
  readonly url: URL;
  /** At least one; all are reachable by the rules. */
  readonly addresses: readonly string[];
}

const MAX_URL_CHARACTERS = 2048;
const MAX_HOST_CHARACTERS = 253;
const MAX_LABEL_CHARACTERS = 63;
const RESOLVE_MS = 5000;

/** Local names (RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`), and metadata services by name. */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|home\.arpa|metadata\.goog)$/;

/** Ports of other protocols. Source: Fetch standard, "bad port". */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  [
    0,
    1,
    7,
    9,
    11,
    13,
    15,
    17,
    19,
    20,
    21,
    22,
    23,
    25,
    37,
    42,
    43,
    53,
    69,
    77,
    79,
    87,
    95,
    101,
    102,
    103,
    104,
    109,
    110,
  ],
  [111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532],
  [540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061],
  [6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
].flat());

/**
 * Checks the address itself without a name lookup: scheme, length, user, port, name, and the IP address if it contains
 * one. The host is checked as the WHATWG parser reads it, so that every notation of an address is covered.
 *
 * @param text The value that a caller sent.
 * @throws {EgressError} `refused`, with the rule.
 */
export function checkTargetUrl(text: unknown, schemes: Schemes, policy: EgressPolicy): URL {
  const wanted = schemes.map((scheme) => scheme.slice(0, -1)).join(" or ");
  if (typeof text !== "string" || text === "") throw refusal("syntax", `expected an ${wanted} address`);
  const { maxUrlLength = MAX_URL_CHARACTERS } = policy;
  if (text.length > maxUrlLength) throw refusal("length", `expected an address of at most ${maxUrlLength} characters`);
  // The WHATWG parser ignores spaces and missing slashes; other parsers may not.
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s]+$/i.test(text) || !URL.canParse(text)) {
    throw refusal("syntax", `expected an absolute ${wanted} address`);
  }
  const url = new URL(text);
  if (!(schemes as readonly string[]).includes(url.protocol)) throw refusal("scheme", `expected the scheme ${wanted}`);
  checkParts(url, policy);
  return url;
}

/** Also for redirect targets. Throws as {@linkcode checkTargetUrl} does. */
function checkParts(url: URL, policy: EgressPolicy): void {
  if (url.username !== "" || url.password !== "") throw refusal("userinfo", "expected no user name or password in it");
  if (BLOCKED_PORTS.has(portOf(url))) throw refusal("port", "expected a port that web servers may use");
  const host = hostOf(url);
  if (isOwn(host, portOf(url), policy)) {
    throw refusal("own_address", "expected an address other than the gateway's own");
  }
  const verdict = classifyAddress(host, policy.allow);
  if (verdict === "not_an_address") checkName(host, policy);
  else refuseUnreachable(verdict);
}

function checkName(name: string, policy: EgressPolicy): void {
  const labels = name.split(".");
  if (
    name.length > MAX_HOST_CHARACTERS || labels.some((label) => label === "" || label.length > MAX_LABEL_CHARACTERS)
  ) {
    throw refusal("host", "expected a host name");
  }
  // If the operator allows blocks of the internal network, local names are resolved and their addresses are checked.
  if (isLocalName(name) && policy.allow.length === 0) throw refusal("local_name", "expected a public host name");
}

/**
 * Checks an address and every IP address of its name. One forbidden address refuses the name, because the next lookup
 * could return it.
 *
 * @throws {EgressError} `refused` or `unresolved`.
 */
export async function vetTarget(text: unknown, schemes: Schemes, policy: EgressPolicy): Promise<VettedTarget> {
  const url = checkTargetUrl(text, schemes, policy);
  const host = hostOf(url);
  if (classifyAddress(host, policy.allow) !== "not_an_address") return { url, addresses: [host] };
  const addresses = await addressesOf(host, policy);
  for (const address of addresses) {
    const verdict = classifyAddress(address, policy.allow);
    refuseUnreachable(verdict);
    if (isLocalName(host) && verdict !== "allowed") throw refusal("local_name", "expected a public host name");
    if (isOwn(address, portOf(url), policy)) {
      throw refusal("own_address", "expected an address other than the gateway's own");
    }
  }
  return { url, addresses };
}

/**
 * Checks an address that is used, and checked again, later. A name that cannot be resolved at the moment is accepted; a
 * name that does not exist is not.
 *
 * @throws {EgressError} `refused` or `unresolved`.
 */
export async function checkTarget(text: unknown, schemes: Schemes, policy: EgressPolicy): Promise<URL> {
  try {
    return (await vetTarget(text, schemes, policy)).url;
  } catch (error) {
    const isUnknown = error instanceof EgressError && error.kind === "unresolved" && !isNameWithoutAddress(error);
    if (!isUnknown) throw error;
    return checkTargetUrl(text, schemes, policy);
  }
}

/** The host of an address in normal form: lower case, without brackets and trailing dot. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

/** The port of an address, explicit or by its scheme. */
export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

function isLocalName(name: string): boolean {
  return !name.includes(".") || LOCAL_NAME.test(name);
}

function isOwn(host: string, port: number, policy: EgressPolicy): boolean {
  return policy.own.some((own) => own.host === host && own.port === port);
}

function refuseUnreachable(verdict: AddressClass): void {
  if (!isReachable(verdict)) throw refusal("private_address", "expected a host with public addresses only", verdict);
}

async function addressesOf(name: string, policy: EgressPolicy): Promise<readonly string[]> {
  const { resolve = systemResolve, clock = systemClock } = policy;
  const { promise: silence, reject } = Promise.withResolvers<never>();
  const stop = clock.after(
    RESOLVE_MS,
    () => reject(new EgressError("unresolved", "the name lookup timed out")),
  );
  try {
    const addresses = await Promise.race([resolve(name), silence]);
    if (addresses.length > 0) return addresses;
  } catch (cause) {
    if (cause instanceof EgressError || isOwnMistake(cause)) throw cause;
    throw new EgressError("unresolved", "the name could not be resolved", { cause });
  } finally {
    stop();
  }
  throw new EgressError("unresolved", "the name has no address", { cause: { code: "ENOTFOUND" } });
}

async function systemResolve(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

function isNameWithoutAddress(error: EgressError): boolean {
  const { cause } = error.details;
  return typeof cause === "object" && cause !== null && "code" in cause && cause.code === "ENOTFOUND";
}
