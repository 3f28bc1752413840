/** The name of the session's cookie. Browsers accept the prefix only with `Secure` (RFC 6265bis, 4.1.3.1). */
const NAME = "switchyard_console";
const SECURE_NAME = `__Secure-${NAME}`;
const TOKEN = /^[0-9A-Za-z]{43}$/;

/**
 * The session's token in a request; null without one.
 *
 * @param cookies The header field `Cookie`.
 */
export function readSessionCookie(cookies: string | null): string | null {
  let plain: string | null = null;
  for (const part of cookies?.split(";") ?? []) {
    const [name = "", value = ""] = part.trim().split("=", 2);
    if (!TOKEN.test(value)) continue;
    if (name === SECURE_NAME) return value;
    if (name === NAME) plain = value;
  }
  return plain;
}

/**
 * The header field `Set-Cookie` of a session. The cookie ends with the browser, and the session on its own.
 *
 * @param token Null to remove the cookie.
 * @param isSecure Whether the browser reaches the gateway by TLS.
 */
export function writeSessionCookie(token: string | null, isSecure: boolean): string {
  const attributes = `Path=/console; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
  const name = isSecure ? SECURE_NAME : NAME;
  return token === null ? `${name}=; ${attributes}; Max-Age=0` : `${name}=${token}; ${attributes}`;
}
