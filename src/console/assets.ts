import { hasTag } from "../platform/http/request/headers.ts";

/** The form in which a file is sent. Source: RFC 9110, 8.4. */
export type Coding = "br" | "gzip" | "identity";

/** A file of the console in memory, compressed beforehand. */
export interface ConsoleAsset {
  readonly mediaType: string;
  /** How long browsers keep it. */
  readonly cacheControl: string;
  /** Strong, without quotes; each coding has its own by a suffix. */
  readonly hash: string;
  readonly bodies: Readonly<Record<Coding, Uint8Array<ArrayBuffer>>>;
}

/** All files of the console. */
export interface ConsoleAssets {
  /** The page that loads the others. */
  readonly page: ConsoleAsset;
  /** By the last segment of their path, which has a hash of their content. */
  readonly files: ReadonlyMap<string, ConsoleAsset>;
  /** The names of the files that every page needs. Others are loaded when they are used. */
  readonly firstLoad: readonly string[];
}

/** Answers with a file, or with 304 if the browser has it already. */
export function answerAsset({ headers: requested }: Request, asset: ConsoleAsset): Response {
  const { mediaType, cacheControl, hash, bodies } = asset;
  const coding = codingFor(requested.get("accept-encoding"));
  const etag = `"${hash}-${coding}"`;
  const headers = { etag, "cache-control": cacheControl, vary: "accept-encoding" };
  if (hasTag(requested.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  const body = bodies[coding];
  return new Response(body, {
    headers: {
      ...headers,
      "content-type": mediaType,
      "content-length": String(body.length),
      ...coding !== "identity" && { "content-encoding": coding },
    },
  });
}

/** The smallest coding that a browser accepts. Source: RFC 9110, 12.5.3. */
export function codingFor(accepted: string | null): Coding {
  const refused = new Set<string>();
  const named = new Set<string>();
  for (const part of accepted?.split(",") ?? []) {
    const [coding = "", weight = ""] = part.toLowerCase().split(";", 2).map((each) => each.trim());
    (/^q=0(?:\.0*)?$/.test(weight) ? refused : named).add(coding);
  }
  for (const coding of ["br", "gzip"] as const) if (named.has(coding) && !refused.has(coding)) return coding;
  return "identity";
}
