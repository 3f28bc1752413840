import type { Listening } from "../http/listen.ts";

/** The address of a server without a final slash: `http://127.0.0.1:8787`. */
export function urlOf({ address, port }: Pick<Listening, "address" | "port">): string {
  return `http://${hostOf(address)}:${port}`;
}

/** An address as the host of a URL: an IPv6 address gets brackets. */
function hostOf(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
