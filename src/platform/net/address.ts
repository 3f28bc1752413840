import ipaddr from "ipaddr.js";

/**
 * The class of an address. Only `public` and `allowed` addresses may be connected to. Logs, metrics and responses use
 * these names.
 */
export type AddressClass =
  | "public"
  /** Exempt by the operator's configuration. */
  | "allowed"
  | "this_network"
  | "private"
  | "shared"
  | "loopback"
  | "link_local"
  | "protocol_assignment"
  | "documentation"
  | "relay_6to4"
  | "benchmarking"
  | "multicast"
  | "reserved"
  | "broadcast"
  /** A cloud platform's own service at a publicly routed address. */
  | "cloud_platform"
  | "tunnel_6to4"
  /** IPv6 outside global unicast: mapped, compatible, local, link-local, unique local, multicast and others. */
  | "not_global_unicast"
  | "not_an_address";

/**
 * A block of addresses in CIDR notation, such as `10.0.0.0/8`. It is plain data, as threads exchange it: an object of
 * the library would lose its methods on the way.
 */
export interface Cidr {
  /** The bytes of any address of the block: 4 or 16. */
  readonly network: readonly number[];
  /** The number of leading bits that the addresses share. */
  readonly prefixLength: number;
}

/**
 * Parses a CIDR block. A single address is a block of one. Bits after the prefix are ignored.
 *
 * @throws {RangeError} If the text is not a block.
 */
export function readCidr(text: string): Cidr {
  const [address = text, length, ...others] = text.split("/");
  const network = addressIn(address);
  const most = network?.kind() === "ipv4" ? 32 : 128;
  if (
    network === null || others.length > 0 ||
    (length !== undefined && !(/^[0-9]{1,3}$/.test(length) && Number(length) <= most))
  ) {
    throw new RangeError(`Cannot read a block of addresses such as 10.0.0.0/8: got "${text.slice(0, 60)}"`);
  }
  return { network: network.toByteArray(), prefixLength: length === undefined ? most : Number(length) };
}

/** Whether a text is a block for {@linkcode readCidr}. */
export function isCidr(text: string): boolean {
  try {
    readCidr(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether an address is in one of the blocks. An IPv4 address that a socket of both families reports in IPv6 notation
 * (`::ffff:10.0.0.1`) is compared as IPv4.
 */
export function isInBlocks(text: string, blocks: readonly Cidr[]): boolean {
  const address = addressIn(text);
  if (address === null) return false;
  const plain = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
  return isInSome(blocks, plain);
}

/** The first block that contains the address applies. Source: IANA special-purpose address registries (RFC 6890). */
const IPV4_VERDICTS = table([
  ["0.0.0.0/8", "this_network"],
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "shared"],
  ["127.0.0.0/8", "loopback"],
  ["169.254.0.0/16", "link_local"], // includes the metadata services of all clouds
  ["172.16.0.0/12", "private"],
  ["192.0.0.0/24", "protocol_assignment"],
  ["192.0.2.0/24", "documentation"],
  ["192.88.99.0/24", "relay_6to4"],
  ["192.168.0.0/16", "private"],
  ["198.18.0.0/15", "benchmarking"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["224.0.0.0/4", "multicast"],
  ["255.255.255.255/32", "broadcast"],
  ["240.0.0.0/4", "reserved"],
  ["168.63.129.16/32", "cloud_platform"], // Azure; publicly routable and in no registry
]);

/** Within 2000::/3. Everything outside it is refused. */
const IPV6_VERDICTS = table([
  ["2001::/23", "protocol_assignment"], // Teredo, benchmarking, ORCHID
  ["2001:db8::/32", "documentation"],
  ["2002::/16", "tunnel_6to4"],
  ["3fff::/20", "documentation"],
]);
const GLOBAL_UNICAST = readCidr("2000::/3");
/** RFC 6052: networks without IPv4 resolve every name to such an address, so the embedded address is classified. */
const NAT64 = readCidr("64:ff9b::/96");

/**
 * Classifies an address.
 *
 * @param text IPv4 in four decimal parts or IPv6, without brackets. Any other notation is `not_an_address`.
 * @param allow Blocks that the operator exempts.
 */
export function classifyAddress(text: string, allow: readonly Cidr[] = []): AddressClass {
  const address = addressIn(text);
  if (address === null) return "not_an_address";
  if (isInSome(allow, address)) return "allowed";
  return address.kind() === "ipv4" ? ipv4Verdict(address) : ipv6Verdict(address as ipaddr.IPv6, allow);
}

/**
 * Returns the usual notation of an address, an IPv4 address within IPv6 as IPv4; null if the text is not an address.
 *
 * @param text As for {@linkcode classifyAddress}.
 */
export function normalizedAddress(text: string): string | null {
  return plainAddressIn(text)?.toString() ?? null;
}

/**
 * Returns the network that belongs to one client: the address itself, of IPv6 its first 64 bits, which one client can
 * use freely (RFC 6177). A text that is not an address is returned unchanged.
 */
export function clientNetworkOf(text: string): string {
  const address = plainAddressIn(text);
  if (address === null) return text;
  if (address.kind() === "ipv4") return address.toString();
  const groups = (address as ipaddr.IPv6).parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(":")}::/64`;
}

/** Whether an address is in one of the blocks. An IPv4 address within IPv6 counts as IPv4. */
export function isWithin(text: string, blocks: readonly Cidr[]): boolean {
  const address = blocks.length === 0 ? null : plainAddressIn(text);
  return address !== null && isInSome(blocks, address);
}

/** Whether an address of this class may be connected to. */
export function isReachable(verdict: AddressClass): boolean {
  return verdict === "public" || verdict === "allowed";
}

function addressIn(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  // For a name, the common case, the library would throw, which costs more than the rest of this call.
  if (/^[\d.]+$/.test(text)) return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : null;
  return text.includes(":") && !text.includes("%") && ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : null;
}

function plainAddressIn(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const address = addressIn(text);
  if (address === null || address.kind() === "ipv4") return address;
  const six = address as ipaddr.IPv6;
  return six.isIPv4MappedAddress() ? six.toIPv4Address() : six;
}

function ipv4Verdict(address: ipaddr.IPv4 | ipaddr.IPv6): AddressClass {
  return verdictOf(IPV4_VERDICTS, address.toByteArray()) ?? "public";
}

function ipv6Verdict(address: ipaddr.IPv6, allow: readonly Cidr[]): AddressClass {
  const bytes = address.toByteArray();
  if (holds(NAT64, bytes)) return classifyAddress(bytes.slice(12).join("."), allow);
  if (!holds(GLOBAL_UNICAST, bytes)) return "not_global_unicast";
  return verdictOf(IPV6_VERDICTS, bytes) ?? "public";
}

function isInSome(blocks: readonly Cidr[], address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (blocks.length === 0) return false;
  const bytes = address.toByteArray();
  return blocks.some((block) => holds(block, bytes));
}

/** @param address The bytes of an address. One of the other family is in no block. */
function holds({ network, prefixLength }: Cidr, address: readonly number[]): boolean {
  if (network.length !== address.length) return false;
  const wholeBytes = prefixLength >> 3;
  for (let index = 0; index < wholeBytes; index++) if (network[index] !== address[index]) return false;
  const otherBits = 8 - (prefixLength & 7);
  if (otherBits === 8) return true;
  return (network[wholeBytes] ?? 0) >> otherBits === (address[wholeBytes] ?? 0) >> otherBits;
}

type VerdictTable = readonly (readonly [Cidr, AddressClass])[];

function verdictOf(rows: VerdictTable, address: readonly number[]): AddressClass | undefined {
  return rows.find(([cidr]) => holds(cidr, address))?.[1];
}

function table(rows: readonly (readonly [string, AddressClass])[]): VerdictTable {
  return rows.map(([cidr, verdict]) => [readCidr(cidr), verdict] as const);
}
