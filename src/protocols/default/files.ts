import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { isValidSignature, type SigningKeys } from "../../platform/files/signed_url.ts";
import { type FileStore, FilesUnavailableError, isFileName, type StoredFile } from "../../platform/files/files.ts";
import { hasTag } from "../../platform/http/request/headers.ts";
import { type Inbound, pathParam, type Route } from "../../platform/http/request/inbound.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import type { StreamedResult } from "../../services/videos/results/result_streamer.ts";
import type { Videos } from "../../services/videos/videos.ts";
import { routesAt } from "../route_at.ts";

/** The dependencies of the file endpoint. */
export interface FileRouteParts {
  readonly files: FileStore;
  readonly log: Log;
  readonly signingKeys: SigningKeys;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Whether the task of a file exists: a copy in progress can briefly outlive its task. */
  readonly isOwned: Videos["isOwned"];
  /** Opens the content of a missing file at its vendor; null if it is not available. */
  readonly streamResult: Videos["streamResult"];
}

/** `GET /files/{name}`: a file, for requests with its signed address. Source: docs/api/files.md#get. */
export function fileRoutes(parts: FileRouteParts): Route[] {
  return routesAt(ENDPOINTS.readFile, (inbound) => serve(inbound, parts));
}

async function serve(inbound: Inbound, parts: FileRouteParts): Promise<Response> {
  const { query, request } = inbound;
  const name = pathParam(inbound.params, "name");
  if (!isFileName(name) || !isValidSignature(name, query, parts.now(), parts.signingKeys)) throw forbidden();
  if (!await parts.isOwned(name)) throw gone();
  const file = await findIn(parts.files, name);
  if (file instanceof FilesUnavailableError) parts.log.warn("files_unavailable", { reason: file.message });
  else if (file !== null) return await redirectTo(file, inbound) ?? answerWith(file, request.headers);
  const { signal, headers } = request;
  const streamed = await parts.streamResult(name, { range: rangeToPass(headers), signal });
  if (streamed === null) throw file === null ? gone() : unavailable();
  if (inbound.method === "HEAD") await streamed.body.cancel();
  return new Response(inbound.method === "HEAD" ? null : streamed.body, {
    status: streamed.part === null ? 200 : 206,
    headers: streamHeadersOf(name, streamed),
  });
}

/** A file; null if there is none; the error if the files cannot be reached, since the vendor may still have it. */
async function findIn(files: FileStore, name: string): Promise<StoredFile | FilesUnavailableError | null> {
  try {
    return await files.find(name);
  } catch (error) {
    if (error instanceof FilesUnavailableError) return error;
    throw error;
  }
}

/**
 * A redirect to the file's own address; null if the gateway serves it. A presigned address is valid for one method, so
 * HEAD is answered here.
 */
async function redirectTo({ address }: StoredFile, { method }: Inbound): Promise<Response | null> {
  if (address === undefined || method === "HEAD") return null;
  const headers = { location: await address(), "cache-control": "private, no-store", "referrer-policy": "no-referrer" };
  return new Response(null, { status: 307, headers });
}

function unavailable(): GatewayError {
  return new GatewayError(
    "storage_unavailable",
    "Cannot read the file: the storage of files is unavailable; retry later",
    {
      retryAfterSeconds: 5,
    },
  );
}

/** The range to request from the vendor of an uncopied result; without an entity tag no condition on it can hold. */
function rangeToPass(asked: Headers): string | null {
  const field = asked.get("range");
  const isOne = field !== null && rangeOf(field) !== null && !asked.has("if-range");
  return isOne ? field.replace(/\s/g, "").toLowerCase() : null;
}

/** Without an entity tag, since the copy will have its own. */
function streamHeadersOf(name: string, { mediaType, bytes, part }: StreamedResult): Headers {
  return new Headers({
    ...contentHeadersOf(name, mediaType),
    "cache-control": "private, no-store",
    ...(bytes === null ? {} : { "content-length": String(bytes) }),
    ...(part === null ? {} : { "content-range": part, "accept-ranges": "bytes" }),
  });
}

function gone(): GatewayError {
  return new GatewayError("not_found", "Cannot find the file: it no longer exists");
}

/** The same message for every reason, so that it reveals nothing about a signature. */
function forbidden(): GatewayError {
  return new GatewayError("permission_denied", "Cannot open this address: its signature is wrong or it has expired");
}

/** The whole file or one range of it. Source: RFC 9110, 13.2.2 (order of conditions) and 14. */
function answerWith(file: StoredFile, asked: Headers): Response {
  const headers = headersOf(file);
  if (hasTag(asked.get("if-none-match"), file.etag)) {
    headers.delete("content-length");
    return new Response(null, { status: 304, headers });
  }
  const ifRange = asked.get("if-range");
  const part = ifRange === null || ifRange === file.etag ? partIn(asked.get("range"), file.bytes) : null;
  if (part === null) return new Response(file.bytes > 0 ? file.read() : null, { headers });
  if (part === "unsatisfiable") {
    return renderUnsatisfiable(file.bytes);
  }
  headers.set("content-range", `bytes ${part.first}-${part.last}/${file.bytes}`);
  headers.set("content-length", String(part.last - part.first + 1));
  return new Response(file.read(part), { status: 206, headers });
}

function headersOf(file: StoredFile): Headers {
  return new Headers({
    ...contentHeadersOf(file.name, file.mediaType),
    "content-length": String(file.bytes),
    "accept-ranges": "bytes",
    etag: file.etag,
    "last-modified": new Date(file.modifiedAt).toUTCString(),
    "cache-control": "private, max-age=3600",
  });
}

/** The content type, and headers that prevent browsers from guessing it and from running what a vendor has sent. */
function contentHeadersOf(name: string, mediaType: string): Record<string, string> {
  return {
    "content-type": mediaType,
    "content-disposition": `inline; filename="${name}"`,
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox",
  };
}

/**
 * The requested range; null to send everything: none, several, or another unit (RFC 9110, 14.2). Positions may have any
 * number of digits: a rounded one is still after the end of every file.
 */
function partIn(field: string | null, bytes: number): { first: number; last: number } | "unsatisfiable" | null {
  const range = field === null ? null : rangeOf(field);
  if (range === null) return null;
  const [start, end] = range;
  const first = start ?? Math.max(bytes - (end ?? 0), 0);
  const last = start === null ? bytes - 1 : Math.min(end ?? bytes - 1, bytes - 1);
  const isBackwards = start !== null && end !== null && end < start;
  return isBackwards || first > last || first >= bytes ? "unsatisfiable" : { first, last };
}

/** The ends of a range, null where one is missing; null unless the field is a single byte range. */
function rangeOf(field: string): readonly [start: number | null, end: number | null] | null {
  const [, start, end] = /^bytes=\s*([0-9]*)-([0-9]*)\s*$/i.exec(field) ?? [];
  if (start === undefined || end === undefined || (start === "" && end === "")) return null;
  const positionOf = (digits: string) => digits === "" ? null : Number(digits);
  return [positionOf(start), positionOf(end)];
}

function renderUnsatisfiable(bytes: number): Response {
  const error = { code: "invalid_request", message: `Cannot send this range: the file has ${bytes} bytes` };
  return Response.json({ error }, { status: 416, headers: { "content-range": `bytes */${bytes}` } });
}
