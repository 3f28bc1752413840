import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { chunksOf } from "../../platform/http/bodies/body.ts";
import { readOptionalJsonObject } from "../../platform/http/bodies/json_body.ts";
import { mediaTypeIn } from "../../platform/http/bodies/multipart_head.ts";
import type { Inbound, Route } from "../../platform/http/request/inbound.ts";
import { PROTOCOLS } from "../../platform/endpoints/protocols.ts";
import { readCredential } from "../../platform/http/request/credentials.ts";
import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { checkAccess } from "../../money/limits/permission.ts";
import { newUploadToken, readUploadOwner } from "../../services/stored_files/upload_token.ts";
import type { Credential } from "../../money/billing/keys/key_ring.ts";
import { MAX_STORED_FILE_BYTES, type UploadRecord } from "../../services/stored_files/stored_file.ts";
import { receivedBytesOf, uploadStatusOf } from "../../services/stored_files/uploads.ts";
import { routesAt } from "../route_at.ts";
import { countChange, readFileName } from "../stored_file_parts.ts";
import { type ContentFileParts, writeContentFile } from "./files.ts";
import { objectIn, textIn } from "./spelling.ts";

/** The parts of one request of an upload. */
interface UploadCall {
  readonly inbound: Inbound;
  readonly parts: ContentFileParts;
  readonly credential: Credential;
}

const PROTOCOL = "x-goog-upload-protocol";
const COMMAND = "x-goog-upload-command";
const OFFSET = "x-goog-upload-offset";
const LENGTH = "x-goog-upload-header-content-length";
const TYPE = "x-goog-upload-header-content-type";
const NAME = "x-goog-upload-file-name";
/** The parameter of the address of an upload that stands for its key. */
const TOKEN = "upload_token";
const COMMANDS: readonly string[] = ["start", "upload", "upload, finalize", "finalize", "query", "cancel"];
/** The maximum size of the JSON body of a start. */
const MAX_BODY_BYTES = 65_536;
/** The memory of bytes of any number: a few chunks in transit. */
const CHUNK_MEMORY_BYTES = 1_048_576;

/**
 * `POST /gencompat/upload/v1beta/files`: the resumable uploads of Google's clients, which name what they do in header
 * fields. Source: Gemini API reference, "Files"; docs/api/stored-files.md#content-protocol.
 */
export function contentUploadRoutes(parts: ContentFileParts): Route[] {
  return routesAt(ENDPOINTS.uploadContentFile, async (inbound) => {
    const credential = await ownerByAddress(inbound, parts) ?? await parts.authenticate(inbound);
    return await answer({ inbound, parts, credential });
  });
}

/**
 * The key that opened an upload, of a request without a key to the address of the upload: some of Google's clients send
 * none there. Null for other requests.
 */
async function ownerByAddress(inbound: Inbound, { stored }: ContentFileParts): Promise<Credential | null> {
  const query = new URLSearchParams(inbound.query);
  const [id, token] = [query.get("upload_id"), query.get(TOKEN)];
  if (id === null || token === null || commandOf(inbound) === "start" || hasKey(inbound)) return null;
  const credential = await readUploadOwner(stored.parts.store, id, token);
  if (credential === null) return null;
  const { accountId, keyId, limits } = credential;
  inbound.memory.assignTo(accountId);
  Object.assign(inbound.record, { accountId, keyId });
  if (limits !== null) checkAccess(limits, ENDPOINTS.uploadContentFile, inbound.remote);
  return credential;
}

/** Whether a request has a key, which then must be a valid one. */
function hasKey({ request: { headers }, query }: Inbound): boolean {
  try {
    return readCredential(headers, query, PROTOCOLS.content.keyLocations) !== "";
  } catch (error) {
    return !(error instanceof GatewayError && error.code === "unauthorized");
  }
}

async function answer(call: UploadCall): Promise<Response> {
  const command = commandOf(call.inbound);
  if (!COMMANDS.includes(command)) throw invalidField(COMMAND, `expected one of ${COMMANDS.join("; ")}`);
  if (command === "start") return await start(call);
  const id = new URLSearchParams(call.inbound.query).get("upload_id") ?? "";
  if (command === "query") return await query(call, id);
  if (command === "cancel") return await cancel(call, id);
  if (command !== "finalize") await upload(call, id);
  return command === "upload" ? await query(call, id) : await finalize(call, id);
}

function commandOf({ request: { headers } }: Inbound): string {
  return (headers.get(COMMAND) ?? "").toLowerCase().split(",").map((word) => word.trim()).join(", ");
}

/** Opens an upload. The next requests go to the address that it returns. */
async function start({ inbound, parts, credential }: UploadCall): Promise<Response> {
  const { uploads, bodyLimits, changes, room, baseUrl } = parts;
  const { headers } = inbound.request;
  if (headers.get(PROTOCOL) !== "resumable") throw invalidField(PROTOCOL, 'expected "resumable"');
  await countChange(changes, credential.keyId);
  const body = await readOptionalJsonObject(inbound, { ...bodyLimits, capBytes: MAX_BODY_BYTES });
  const file = objectIn(body, "file") ?? {};
  if (textIn(file, "name", "file.") !== undefined) {
    throw invalidField("file.name", "expected none: the gateway chooses the names of files");
  }
  const bytes = wholeNumber(headers.get(LENGTH), LENGTH, MAX_STORED_FILE_BYTES);
  const displayName = textIn(file, "displayName", "file.") || headers.get(NAME) || "file";
  const mediaType = mediaTypeIn(headers.get(TYPE) ?? textIn(file, "mimeType", "file.") ?? "");
  const { token, tokenHash } = newUploadToken();
  const asked = {
    tokenHash,
    filename: readFileName(displayName, "file.displayName"),
    purpose: "user_data",
    bytes,
    lifetimeSeconds: null,
    ...mediaType !== null && { mediaType },
  } as const;
  const taken = await room.take(credential.accountId, bytes, LENGTH);
  try {
    const { id } = await uploads.create(asked, credential);
    taken.end(bytes);
    const query = new URLSearchParams({ upload_id: id, [TOKEN]: token, upload_protocol: "resumable" });
    const address = `${baseUrl()}${ENDPOINTS.uploadContentFile.path}?${query}`;
    return new Response(null, { headers: { "x-goog-upload-status": "active", "x-goog-upload-url": address } });
  } finally {
    taken.end(0);
  }
}

/** Adds the bytes of the request. They follow those before, so that a client can go on after a broken connection. */
async function upload({ inbound, parts, credential }: UploadCall, id: string): Promise<void> {
  const { keyId } = credential;
  await countChange(parts.changes, keyId);
  const offset = wholeNumber(inbound.request.headers.get(OFFSET), OFFSET, MAX_STORED_FILE_BYTES);
  inbound.memory.reserve(CHUNK_MEMORY_BYTES);
  const source = chunksOf(inbound.request, { ...parts.bodyLimits, capBytes: MAX_STORED_FILE_BYTES });
  await parts.uploads.addPart(keyId, id, { source, field: OFFSET, maxBytes: MAX_STORED_FILE_BYTES, offset });
}

/** Joins the parts to a file. A repeat, after an answer that was lost, returns the file again. */
async function finalize(call: UploadCall, id: string): Promise<Response> {
  const { parts: { uploads, changes }, credential: { keyId } } = call;
  const found = await uploads.read(keyId, id);
  if (found.status === "completed") return await query(call, id);
  const received = receivedBytesOf(found.parts);
  if (received !== found.bytes) {
    throw invalidField(LENGTH, `expected ${received} bytes, which the upload has, got ${found.bytes}`);
  }
  await countChange(changes, keyId);
  await uploads.complete(keyId, id, { partIds: found.parts.map((part) => part.id), md5: null });
  return await query(call, id);
}

/** What of an upload has arrived, and its file if it is complete. */
async function query({ parts, credential: { keyId } }: UploadCall, id: string): Promise<Response> {
  const { stored, uploads, baseUrl } = parts;
  const found = await uploads.read(keyId, id);
  const headers = {
    "x-goog-upload-status": statusOf(found, stored.parts.store.now()),
    "x-goog-upload-size-received": String(receivedBytesOf(found.parts)),
  };
  if (found.fileId === null) return new Response(null, { headers });
  return Response.json({ file: writeContentFile(await stored.read(keyId, found.fileId), baseUrl()) }, { headers });
}

async function cancel({ inbound, parts: { uploads, room }, credential }: UploadCall, id: string): Promise<Response> {
  await inbound.request.body?.cancel();
  const { bytes } = await uploads.cancel(credential.keyId, id);
  room.giveBack(credential.accountId, bytes);
  return new Response(null, { headers: { "x-goog-upload-status": "cancelled" } });
}

function statusOf(found: UploadRecord, now: number): string {
  const status = uploadStatusOf(found, now);
  if (status === "completed") return "final";
  return status === "pending" ? "active" : "cancelled";
}

function wholeNumber(text: string | null, field: string, max: number): number {
  if (text !== null && /^\d{1,9}$/.test(text) && Number(text) <= max) return Number(text);
  throw invalidField(field, `expected a whole number of bytes, at most ${max}`);
}
