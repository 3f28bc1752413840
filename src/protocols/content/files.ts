import { Buffer } from "node:buffer";
import { addressOf } from "../../platform/endpoints/endpoint.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { type Inbound, pathParam, type Route } from "../../platform/http/request/inbound.ts";
import { shownFileId, storedFileId, type StoredFileRecord } from "../../services/stored_files/stored_file.ts";
import { routesAt } from "../route_at.ts";
import { downloadNameOf, storedContentResponse } from "../stored_content_response.ts";
import { countChange, type StoredFileRouteParts } from "../stored_file_parts.ts";
import { readPageQuery } from "./cached_contents.ts";

/** The dependencies of the endpoints for files of the content protocol. */
export interface ContentFileParts extends StoredFileRouteParts {
  /** Gives the gateway's own address without a final slash. */
  readonly baseUrl: () => string;
}

const PROTOCOL = "content";
const PAGE_SIZES = { usual: 10, max: 100 };

/**
 * `/gencompat/v1beta/files` and the paths below it: list, get, download and delete.
 * Source: docs/api/stored-files.md#content-protocol.
 */
export function contentFileRoutes(parts: ContentFileParts): Route[] {
  return [
    ...routesAt(ENDPOINTS.listContentFiles, (inbound) => list(inbound, parts)),
    ...routesAt(ENDPOINTS.readContentFile, (inbound) => read(inbound, parts)),
    ...routesAt(ENDPOINTS.downloadContentFile, (inbound) => download(inbound, parts)),
    ...routesAt(ENDPOINTS.deleteContentFile, (inbound) => remove(inbound, parts)),
  ];
}

/**
 * A file as Google's clients read it.
 *
 * @param baseUrl The gateway's own address without a final slash.
 */
export function writeContentFile(file: StoredFileRecord, baseUrl: string): Record<string, unknown> {
  const { filename, mediaType, bytes, createdAt, expiresAt, sha256, purpose } = file;
  const name = shownFileId(file.id, PROTOCOL);
  const id = name.slice("files/".length);
  const isGenerated = purpose === "batch_output";
  return {
    name,
    displayName: filename,
    mimeType: mediaType ?? "application/octet-stream",
    sizeBytes: String(bytes),
    createTime: timeOf(createdAt),
    updateTime: timeOf(createdAt),
    expirationTime: expiresAt === null ? undefined : timeOf(expiresAt),
    sha256Hash: Buffer.from(sha256, "hex").toString("base64"),
    uri: baseUrl + addressOf(ENDPOINTS.readContentFile, { id }),
    downloadUri: isGenerated ? `${baseUrl}${addressOf(ENDPOINTS.downloadContentFile, { id })}?alt=media` : undefined,
    state: "ACTIVE",
    source: isGenerated ? "GENERATED" : "UPLOADED",
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

async function list(inbound: Inbound, { stored, authenticate, baseUrl }: ContentFileParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  const { after, limit } = readPageQuery(inbound.query, PAGE_SIZES);
  const { files, hasMore } = await stored.list(keyId, {
    purpose: null,
    after: after === null ? null : storedFileId(after, PROTOCOL) ?? after,
    limit,
    reverse: true,
  });
  const last = files[files.length - 1];
  return Response.json({
    files: files.map((file) => writeContentFile(file, baseUrl())),
    nextPageToken: hasMore && last !== undefined ? shownFileId(last.id, PROTOCOL) : undefined,
  });
}

async function read(inbound: Inbound, { stored, authenticate, baseUrl }: ContentFileParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  return Response.json(writeContentFile(await stored.read(keyId, storedIdIn(inbound)), baseUrl()));
}

async function download(inbound: Inbound, { stored, authenticate }: ContentFileParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  const file = await stored.read(keyId, storedIdIn(inbound));
  return await storedContentResponse(await stored.open(file), { method: inbound.method, name: downloadNameOf(file) });
}

async function remove(inbound: Inbound, parts: ContentFileParts): Promise<Response> {
  const { stored, authenticate, changes, room } = parts;
  const { keyId, accountId } = await authenticate(inbound);
  await countChange(changes, keyId);
  const { bytes } = await stored.remove(keyId, storedIdIn(inbound));
  room.giveBack(accountId, bytes);
  return Response.json({});
}

/** The id in the store. An id of another form is that of no file. */
function storedIdIn({ params }: Inbound): string {
  return storedFileId(`files/${pathParam(params, "id")}`, PROTOCOL) ?? "";
}
