/** The place of files in a bucket. */
export interface BucketAddress {
  readonly bucket: string;
  /** Precedes the names of files; empty, or ends with a slash. */
  readonly prefix: string;
  /** An http or https origin without a path. */
  readonly endpoint: string;
  readonly region: string;
  /** Whether the bucket is in the path or in the host name of a request. */
  readonly addressing: "path" | "virtual";
}

/** What {@linkcode readBucketAddress} accepts, for messages. */
export const BUCKET_EXPECTATION =
  '"s3://bucket/prefix", optionally with ?endpoint=https://…, region=… and addressing=path or virtual';

const PARAMETERS = new Set(["endpoint", "region", "addressing"]);
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^([A-Za-z0-9_.=-]+\/)*$/;

/**
 * Reads `s3://bucket/prefix?endpoint=…&region=…&addressing=…`. The region is `us-east-1` and the endpoint that of AWS
 * unless they are given. Other endpoints have the bucket in the path unless `addressing` is `virtual`.
 *
 * @returns Null if the text is invalid.
 */
export function readBucketAddress(text: string): BucketAddress | null {
  const [, bucket = "", path = "", query = ""] = /^s3:\/\/([^/?#]+)(\/[^?#]*)?(?:\?([^#]*))?$/.exec(text) ?? [];
  const parameters = new URLSearchParams(query);
  const names = [...parameters.keys()];
  if (names.some((name) => !PARAMETERS.has(name)) || new Set(names).size < names.length) return null;
  const region = parameters.get("region") ?? "us-east-1";
  const given = parameters.get("endpoint");
  const endpoint = originIn(given ?? `https://s3.${region}.amazonaws.com`);
  const addressing = parameters.get("addressing") ?? (given === null ? "virtual" : "path");
  const trimmed = path.replace(/^\/|\/$/g, "");
  const prefix = trimmed === "" ? "" : `${trimmed}/`;
  const isValid = BUCKET_NAME.test(bucket) && PREFIX.test(prefix) && !/(^|\/)\.{1,2}\//.test(prefix) &&
    /^[a-z0-9-]{1,40}$/.test(region) && (addressing === "path" || addressing === "virtual");
  return isValid && endpoint !== null ? { bucket, prefix, endpoint, region, addressing } : null;
}

function originIn(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return null;
  return url.pathname === "/" && url.search === "" && url.hash === "" ? url.origin : null;
}
