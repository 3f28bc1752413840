import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { type Inbound, pathParam, type Route } from "../../platform/http/request/inbound.ts";
import { readJsonObject } from "../../platform/http/bodies/json_body.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import {
  MAX_STORED_FILE_BYTES,
  type StoredFileRecord,
  type UploadRecord,
} from "../../services/stored_files/stored_file.ts";
import { MAX_PART_BYTES, uploadStatusOf } from "../../services/stored_files/uploads.ts";
import { routesAt } from "../route_at.ts";
import { readFileForm } from "../file_form.ts";
import { countChange, readFileName, type StoredFileRouteParts } from "../stored_file_parts.ts";
import { readLifetime, readPurpose, writeFile } from "./stored_files.ts";

const FORM_OVERHEAD_BYTES = 65_536;
/** The maximum size of the JSON bodies, which have ids of parts at most. */
const MAX_BODY_BYTES = 65_536;
const MAX_PART_IDS = 500;

/** `POST /v1/uploads`, `/parts`, `/complete` and `/cancel`. */
export function uploadRoutes(parts: StoredFileRouteParts): Route[] {
  return [
    ...routesAt(ENDPOINTS.createUpload, (inbound) => create(inbound, parts)),
    ...routesAt(ENDPOINTS.addUploadPart, (inbound) => addPart(inbound, parts)),
    ...routesAt(ENDPOINTS.completeUpload, (inbound) => complete(inbound, parts)),
    ...routesAt(ENDPOINTS.cancelUpload, (inbound) => cancel(inbound, parts)),
  ];
}

function writeUpload(upload: UploadRecord, now: number, file: StoredFileRecord | null): Record<string, unknown> {
  const { id, bytes, createdAt, expiresAt, filename, purpose } = upload;
  return {
    id,
    object: "upload",
    bytes,
    created_at: secondsOf(createdAt),
    expires_at: secondsOf(expiresAt),
    filename,
    purpose,
    status: uploadStatusOf(upload, now),
    file: file && writeFile(file),
  };
}

async function create(inbound: Inbound, parts: StoredFileRouteParts): Promise<Response> {
  const { stored, uploads, authenticate, bodyLimits, changes, room } = parts;
  const owner = await authenticate(inbound);
  await countChange(changes, owner.keyId);
  const { body } = await readJsonObject(inbound, { ...bodyLimits, capBytes: MAX_BODY_BYTES });
  const { bytes, expires_after: after } = body;
  if (typeof bytes !== "number" || !Number.isInteger(bytes) || bytes < 1 || bytes > MAX_STORED_FILE_BYTES) {
    throw invalidField("bytes", `expected 1 to ${MAX_STORED_FILE_BYTES}`);
  }
  const asked = {
    filename: readFileName(body.filename, "filename"),
    purpose: readPurpose(body.purpose),
    bytes,
    lifetimeSeconds: lifetimeIn(after),
  };
  const taken = await room.take(owner.accountId, bytes, "bytes");
  try {
    const upload = await uploads.create(asked, owner);
    taken.end(bytes);
    return Response.json(writeUpload(upload, stored.parts.store.now(), null));
  } finally {
    taken.end(0);
  }
}

function lifetimeIn(after: unknown): number | null {
  if (after === undefined || after === null) return null;
  if (typeof after !== "object" || Array.isArray(after)) throw invalidField("expires_after", "expected an object");
  const { anchor = null, seconds = null }: { readonly anchor?: unknown; readonly seconds?: unknown } = after;
  return readLifetime(anchor, seconds);
}

async function addPart(inbound: Inbound, parts: StoredFileRouteParts): Promise<Response> {
  const { uploads, authenticate, bodyLimits, changes } = parts;
  const { keyId } = await authenticate(inbound);
  await countChange(changes, keyId);
  const id = pathParam(inbound.params, "id");
  const { stored: { id: partId, createdAt } } = await readFileForm(inbound, {
    limits: { ...bodyLimits, capBytes: MAX_PART_BYTES + FORM_OVERHEAD_BYTES },
    fileField: "data",
    texts: new Set(),
    store: (source) => uploads.addPart(keyId, id, { source }),
    // A part of an invalid form is a part that is never used, and is removed with its upload.
    discard: () => Promise.resolve(),
  });
  return Response.json({
    id: partId,
    object: "upload.part",
    created_at: secondsOf(createdAt),
    upload_id: id,
  });
}

async function complete(inbound: Inbound, parts: StoredFileRouteParts): Promise<Response> {
  const { stored, uploads, authenticate, bodyLimits, changes } = parts;
  const { keyId } = await authenticate(inbound);
  await countChange(changes, keyId);
  const { body: { part_ids: partIds, md5 = null } } = await readJsonObject(inbound, {
    ...bodyLimits,
    capBytes: MAX_BODY_BYTES,
  });
  if (!Array.isArray(partIds) || partIds.length === 0 || partIds.length > MAX_PART_IDS || !partIds.every(isText)) {
    throw invalidField("part_ids", `expected 1 to ${MAX_PART_IDS} ids of parts`);
  }
  if (md5 !== null && (typeof md5 !== "string" || !/^[0-9a-f]{32}$/i.test(md5))) {
    throw invalidField("md5", "expected 32 hexadecimal digits");
  }
  const { upload, file } = await uploads.complete(keyId, pathParam(inbound.params, "id"), {
    partIds,
    md5: md5 === null ? null : md5.toLowerCase(),
  });
  return Response.json(writeUpload(upload, stored.parts.store.now(), file));
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

async function cancel(inbound: Inbound, parts: StoredFileRouteParts): Promise<Response> {
  const { stored, uploads, authenticate, room } = parts;
  const { keyId, accountId } = await authenticate(inbound);
  await inbound.request.body?.cancel();
  const upload = await uploads.cancel(keyId, pathParam(inbound.params, "id"));
  room.giveBack(accountId, upload.bytes);
  return Response.json(writeUpload(upload, stored.parts.store.now(), null));
}
