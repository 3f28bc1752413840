import type { HeaderReader } from "./headers.ts";

const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{1,5}))?$/;

/**
 * Whether a `Host` field is valid: a name or IPv4 address of letters, digits, dots, hyphens and underscores, or an IPv6
 * address in brackets, with an optional port up to 65535. This is stricter than RFC 9110, 7.2, because the platform
 * copies the field into `request.url` unchecked, where a slash, a question mark or an escape would change the path.
 */
export function isHost(value: string): boolean {
  const match = HOST.exec(value);
  return match !== null && (match[1] === undefined || Number(match[1]) <= 65_535);
}

/**
 * The host that a request was sent to; null if it named none. HTTP/1.1 sends it in the `Host` field. HTTP/2 sends it in
 * the address only. For HTTP/1.1 requests without it the platform inserts `localhost` with its own port, which counts
 * as none.
 */
export function hostOf(request: Request, headers: HeaderReader): string | null {
  const field = headers.get("host");
  if (field !== null) return field;
  const { url } = request;
  const start = url.indexOf("//") + 2;
  const authority = url.slice(start, url.indexOf("/", start));
  return /^localhost(:[0-9]+)?$/.test(authority) ? null : authority;
}
