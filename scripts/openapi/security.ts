import type { Face, Operation } from "./operation.ts";

const inHeader = (name: string, description: string) => ({ type: "apiKey", in: "header", name, description });

/** Where a credential may be sent. Source: docs/api/README.md#authentication. */
export const SECURITY_SCHEMES = {
  bearer: { type: "http", scheme: "bearer", description: "An API key. Documented for the default protocol." },
  xApiKey: inHeader("x-api-key", "An API key. Documented for the message protocol."),
  xContentApiKey: inHeader("x-content-api-key", "An API key. Documented for the content protocol."),
  xGoogApiKey: inHeader("x-goog-api-key", "An API key, as Google's clients send it."),
  apiKey: inHeader("api-key", "An API key, as Azure's clients send it."),
  keyInQuery: { type: "apiKey", in: "query", name: "key", description: "An API key, for the content protocol only." },
  adminKey: { type: "http", scheme: "bearer", description: "An admin key of an operator." },
} as const;

type Scheme = keyof typeof SECURITY_SCHEMES;

const ALL: readonly Scheme[] = ["bearer", "xApiKey", "xContentApiKey", "xGoogApiKey", "apiKey"];

/** The schemes of each face, the documented one first. */
const BY_FACE: Readonly<Record<Face, readonly Scheme[]>> = {
  default: ALL,
  video: ALL,
  message: ["xApiKey", ...ALL.filter((each) => each !== "xApiKey")],
  content: ["xContentApiKey", ...ALL.filter((each) => each !== "xContentApiKey"), "keyInQuery"],
  admin: ["adminKey"],
  service: ["adminKey"],
};

/** The field `security` of an operation: any one of the entries is enough. */
export function securityOf({ face, auth }: Operation): Record<string, never[]>[] {
  if (auth === "none") return [];
  const each = BY_FACE[face].map((scheme) => ({ [scheme]: [] }));
  return auth === "optional" ? [{}, ...each] : each;
}
