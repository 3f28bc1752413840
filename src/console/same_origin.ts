import type { Inbound } from "../platform/http/request/inbound.ts";
import { GatewayError } from "../platform/lib/basics/gateway_error.ts";

/**
 * Refuses requests that a page of another origin has made. Browsers name the relation in `Sec-Fetch-Site`; those that
 * do not, such as over plain HTTP in a local network, send `Origin` with every request that changes something.
 *
 * @param baseUrl The gateway's public address, as a proxy in front of it can have another host.
 * @throws {GatewayError} `permission_denied`.
 */
export function requireSameOrigin(
  { request: { headers, url }, address = url }: Pick<Inbound, "request" | "address">,
  baseUrl: string,
): void {
  const site = headers.get("sec-fetch-site");
  if (site !== null) {
    if (site !== "same-origin") throw refusal();
    return;
  }
  const origin = headers.get("origin");
  if (origin === null) return;
  const host = hostOf(origin);
  if (host === null || (host !== hostOf(address) && host !== hostOf(baseUrl))) throw refusal();
}

function hostOf(address: string): string | null {
  return URL.parse(address)?.host ?? null;
}

function refusal(): GatewayError {
  return new GatewayError("permission_denied", "Cannot accept this request: it comes from a page of another address");
}
