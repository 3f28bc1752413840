const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{1,5}))?$/;

/**
 * Tells whether a `Host` field names a host: a name or IPv4 address of letters, digits, dots, hyphens and underscores,
 * or an IPv6 address in brackets, with a port up to 65535 if any. Narrower than RFC 9110, 7.2, on purpose: the
 * platform pastes the field into `request.url` unread, where a slash, a question mark or an escape would move the path.
 */
export function isHost(value: string): boolean {
  const match = HOST.exec(value);
  return match !== null && (match[1] === undefined || Number(match[1]) <= 65_535);
}

/**
 * The host a request was sent to, null if it named none. HTTP/1.1 names it in the `Host` field. HTTP/2 names it in the
 * address alone, where the platform puts `localhost` with its own port for HTTP/1.1 requests that named none: such an
 * address counts as none.
 */
export function hostOf(request: Request): string | null {
  const field = request.headers.get("host");
  if (field !== null) return field;
  const { url } = request;
  const start = url.indexOf("//") + 2;
  const authority = url.slice(start, url.indexOf("/", start));
  return /^localhost(:[0-9]+)?$/.test(authority) ? null : authority;
}
