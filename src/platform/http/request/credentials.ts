import { KEY_HEADERS, type KeyLocation } from "../../endpoints/protocols.ts";
import { GatewayError } from "../../lib/basics/gateway_error.ts";
import type { HeaderReader } from "./headers.ts";

/** The maximum length of a key that is looked up. */
const MAX_KEY_CHARACTERS = 512;

/**
 * Reads the key of a request without checking that it exists.
 *
 * @param query Without its question mark.
 * @returns A key of visible ASCII characters.
 * @throws {GatewayError} `unauthorized` if there is no key. `invalid_api_key` if two places contain different keys, or
 * if a value cannot be a key, such as two keys merged into one field.
 */
export function readCredential(
  headers: HeaderReader,
  query: string,
  carriers: readonly KeyLocation[] = KEY_HEADERS,
): string {
  let key: string | null = null;
  for (const carrier of carriers) {
    const found = carrier === "?key" ? keyInQuery(query) : keyInField(headers, carrier);
    if (found === null) continue;
    if (key !== null && key !== found) throw invalidKey("expected the same key wherever one is sent");
    key = found;
  }
  if (key === null) throw new GatewayError("unauthorized", missingKey(headers, carriers));
  if (key.length > MAX_KEY_CHARACTERS || !/^[\x21-\x7e]+$/.test(key)) {
    throw invalidKey("expected one key of visible characters");
  }
  return key;
}

function keyInField(headers: HeaderReader, name: string): string | null {
  const value = headers.get(name);
  if (value === null) return null;
  if (name !== "authorization") return value === "" ? null : value;
  // RFC 6750, 2.1; other schemes are not used.
  return /^Bearer +(\S.*)$/i.exec(value)?.[1]?.trimEnd() ?? null;
}

function keyInQuery(query: string): string | null {
  if (!query.includes("key=")) return null;
  const keys = new Set(new URLSearchParams(query).getAll("key").filter((key) => key !== ""));
  if (keys.size > 1) throw invalidKey("expected the same key wherever one is sent");
  const [key = null] = keys;
  return key;
}

function invalidKey(expected: string): GatewayError {
  return new GatewayError("invalid_api_key", `Cannot accept the API key: ${expected}`);
}

function missingKey(headers: HeaderReader, carriers: readonly KeyLocation[]): string {
  const other = carriers.includes("?key") ? "x-content-api-key" : "x-api-key";
  const sent = headers.get("authorization") ?? "";
  return sent === "" || /^Bearer *$/i.test(sent)
    ? `Missing API key: send it as "Authorization: Bearer" or "${other}"`
    : `Missing API key: the header "authorization" has another form; send "Bearer", a space and the key, or "${other}"`;
}

/** The only version of the message protocol. Source: docs/api/README.md#versions. */
export const MESSAGE_VERSION = "2023-06-01";

/**
 * Checks the version header of the message protocol. `msg-version` has one valid value. The vendor's own name
 * `anthropic-version` accepts any date, because that vendor's clients change it.
 *
 * @throws {GatewayError} `invalid_request`.
 */
export function checkMessageVersion(headers: Headers): void {
  const version = headers.get("msg-version");
  if (version === MESSAGE_VERSION) return;
  if (version === null && isDate(headers.get("anthropic-version"))) return;
  const got = version === null ? "none" : "another";
  throw new GatewayError(
    "invalid_request",
    `Cannot read the header "msg-version": expected ${MESSAGE_VERSION}, or a date in "anthropic-version", got ${got}`,
    {
      field: "msg-version",
    },
  );
}

function isDate(value: string | null): boolean {
  return value !== null && /^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$/.test(value);
}
