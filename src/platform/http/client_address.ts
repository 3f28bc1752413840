import { type Cidr, isWithin, normalizedAddress } from "../net/address.ts";

/** The longest `X-Forwarded-For` that is read. A longer one ends in the addresses of proxies all the same. */
const MAX_CHARACTERS = 2_048;

/**
 * Returns the client's address: the rightmost address of `X-Forwarded-For` that is not a trusted proxy's. Each proxy
 * appends the address of its peer, so everything to the left of that one may be invented by the client. Source:
 * docs/configuration.md#addresses-of-clients.
 *
 * @param peer The address of the connection's other end.
 * @param forwarded All field lines of `X-Forwarded-For`, joined by commas; null if there are none.
 * @param trusted The networks of the operator's proxies.
 */
export function clientAddressOf(peer: string, forwarded: string | null, trusted: readonly Cidr[]): string {
  let client = normalizedAddress(peer) ?? peer;
  if (forwarded === null || !isWithin(client, trusted)) return client;
  const hops = forwarded.slice(-MAX_CHARACTERS).split(",");
  const first = forwarded.length > MAX_CHARACTERS ? 1 : 0; // the first of a shortened list may be a part of an address
  for (let at = hops.length - 1; at >= first; at--) {
    const hop = normalizedAddress(withoutPort(hops[at]!.trim()));
    if (hop === null) return client; // what is left of an unreadable entry was not written by a trusted proxy
    client = hop;
    if (!isWithin(client, trusted)) return client;
  }
  return client;
}

/** Some proxies append the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text);
  if (bracketed !== null) return bracketed[1]!;
  return /^[\d.]+:\d{1,5}$/.test(text) ? text.slice(0, text.indexOf(":")) : text;
}
