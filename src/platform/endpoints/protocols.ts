/** Where a caller's key may be sent: a header field, or `key` in the query. */
export type KeyLocation = "authorization" | "x-api-key" | "x-content-api-key" | "x-goog-api-key" | "api-key" | "?key";

/** The name of a protocol, in the log of requests too. */
export type ProtocolName = "default" | "message" | "content" | "admin";

/** What all endpoints of a protocol have in common. */
export interface Protocol {
  /** As in the log of requests. */
  readonly name: ProtocolName;
  /** The first segment of its paths: `/v1`. */
  readonly root: string;
  /** Where its callers may send their keys. */
  readonly keyLocations: readonly KeyLocation[];
  /** Whose header fields show what a limit of rate has left; null for a protocol without such fields. */
  readonly rateFields: "default" | "message" | null;
}

/**
 * The header fields that every protocol accepts. The official clients of all vendors work after a change of base
 * address and key. Source: docs/api/README.md#authentication.
 */
export const KEY_HEADERS: readonly KeyLocation[] = [
  "authorization",
  "x-api-key",
  "x-content-api-key",
  "x-goog-api-key",
  "api-key",
];

/** The protocols by name. Clients of Google may send the key in the query, and Google's API shows no limits of rate. */
export const PROTOCOLS: Readonly<Record<ProtocolName, Protocol>> = {
  default: { name: "default", root: "/v1", keyLocations: KEY_HEADERS, rateFields: "default" },
  message: { name: "message", root: "/msgcompat", keyLocations: KEY_HEADERS, rateFields: "message" },
  content: { name: "content", root: "/gencompat", keyLocations: [...KEY_HEADERS, "?key"], rateFields: null },
  admin: { name: "admin", root: "/admin", keyLocations: KEY_HEADERS, rateFields: null },
};

const BY_ROOT: ReadonlyMap<string, Protocol> = new Map(Object.values(PROTOCOLS).map((each) => [each.root, each]));

/** The protocol of a path; undefined for paths outside all protocols, such as those of health checks. */
export function protocolAt(path: string): Protocol | undefined {
  const end = path.indexOf("/", 1);
  return BY_ROOT.get(end < 0 ? path : path.slice(0, end));
}
