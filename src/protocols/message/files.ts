import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { checkMessageVersion } from "../../platform/http/request/credentials.ts";
import { type Inbound, limitIn, pathParam, readListQuery, type Route } from "../../platform/http/request/inbound.ts";
import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { shownFileId, storedFileId, type StoredFileRecord } from "../../services/stored_files/stored_file.ts";
import { routesAt } from "../route_at.ts";
import { downloadNameOf, storedContentResponse } from "../stored_content_response.ts";
import { countChange, readSeconds, type StoredFileRouteParts, storeFormFile } from "../stored_file_parts.ts";

const PROTOCOL = "message";
const TEXTS = new Set(["expires_in_seconds"]);
const PAGE_SIZES = { usual: 20, max: 1_000 };
const MAX_IDS = 100;
/** `beta` is what Anthropic's clients add to addresses of such endpoints. */
const LIST_PARAMETERS: readonly string[] = ["after_id", "before_id", "beta", "ids", "ids[]", "limit", "page"];

/**
 * `/msgcompat/v1/files` and the paths below it: create, list, get, content and delete. The beta header may be absent.
 * Source: docs/api/stored-files.md#message-protocol.
 */
export function messageFileRoutes(parts: StoredFileRouteParts): Route[] {
  return [
    ...routesAt(ENDPOINTS.createMessageFile, (inbound) => create(inbound, parts)),
    ...routesAt(ENDPOINTS.listMessageFiles, (inbound) => list(inbound, parts)),
    ...routesAt(ENDPOINTS.readMessageFile, (inbound) => read(inbound, parts)),
    ...routesAt(ENDPOINTS.readMessageFileContent, (inbound) => content(inbound, parts)),
    ...routesAt(ENDPOINTS.deleteMessageFile, (inbound) => remove(inbound, parts)),
  ];
}

/** A file as Anthropic's clients read it. */
function writeFile(file: StoredFileRecord): Record<string, unknown> {
  const { id, filename, mediaType, bytes, createdAt, expiresAt } = file;
  return {
    id: shownFileId(id, PROTOCOL),
    type: "file",
    filename,
    mime_type: mediaType ?? "application/octet-stream",
    size_bytes: bytes,
    created_at: new Date(createdAt).toISOString(),
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    downloadable: isDownloadable(file),
  };
}

/** As at the vendor: a client cannot get back what it has sent. */
function isDownloadable({ purpose }: StoredFileRecord): boolean {
  return purpose === "batch_output";
}

async function create(inbound: Inbound, parts: StoredFileRouteParts): Promise<Response> {
  const owner = await parts.authenticate(inbound);
  checkMessageVersion(inbound.request.headers);
  await countChange(parts.changes, owner.keyId);
  const file = await storeFormFile(inbound, parts, {
    owner,
    texts: TEXTS,
    read: (fields) => {
      const seconds = fields.get("expires_in_seconds");
      const lifetimeSeconds = seconds === undefined ? null : readSeconds(Number(seconds), "expires_in_seconds");
      return { purpose: "user_data", lifetimeSeconds };
    },
  });
  return Response.json(writeFile(file));
}

async function list(inbound: Inbound, { stored, authenticate }: StoredFileRouteParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  const query = readListQuery(inbound.query, {
    isKnown: (name) => LIST_PARAMETERS.includes(name),
    expectation: `expected ${LIST_PARAMETERS.join(", ")}`,
  });
  const ids = [...query.getAll("ids"), ...query.getAll("ids[]")];
  if (ids.length > MAX_IDS) throw invalidField("ids", `expected at most ${MAX_IDS} ids`);
  if (ids.length > 0) {
    const found = await Promise.all(ids.map((id) => stored.find(keyId, storedFileId(id, PROTOCOL) ?? id)));
    return pageOf(found.filter((file) => file !== null), { hasMore: false });
  }
  const after = query.get("page") ?? query.get("after_id");
  const before = query.get("before_id");
  if (after !== null && before !== null) throw invalidField("before_id", "expected it without a page or after_id");
  const limit = limitIn(query, PAGE_SIZES);
  const from = before ?? after;
  const { files, hasMore } = await stored.list(keyId, {
    purpose: null,
    after: from === null ? null : storedFileId(from, PROTOCOL) ?? from,
    limit,
    reverse: before === null,
  });
  return pageOf(before === null ? files : files.toReversed(), { hasMore });
}

/** A page with the cursors of current and of earlier clients. */
function pageOf(files: readonly StoredFileRecord[], { hasMore }: { readonly hasMore: boolean }): Response {
  const data = files.map(writeFile);
  const last = data[data.length - 1]?.id ?? null;
  return Response.json({
    data,
    has_more: hasMore,
    first_id: data[0]?.id ?? null,
    last_id: last,
    next_page: hasMore ? last : null,
  });
}

async function read(inbound: Inbound, { stored, authenticate }: StoredFileRouteParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  return Response.json(writeFile(await stored.read(keyId, storedIdIn(inbound))));
}

async function content(inbound: Inbound, { stored, authenticate }: StoredFileRouteParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  const file = await stored.read(keyId, storedIdIn(inbound));
  if (!isDownloadable(file)) {
    throw new GatewayError("invalid_request", "Cannot download the file: its downloadable is false", {
      reason: { errorCode: "file_not_downloadable" },
    });
  }
  const { method } = inbound;
  return await storedContentResponse(await stored.open(file), { method, name: downloadNameOf(file) });
}

async function remove(inbound: Inbound, parts: StoredFileRouteParts): Promise<Response> {
  const { stored, authenticate, changes, room } = parts;
  const { keyId, accountId } = await authenticate(inbound);
  await countChange(changes, keyId);
  const { id, bytes } = await stored.remove(keyId, storedIdIn(inbound));
  room.giveBack(accountId, bytes);
  return Response.json({ id: shownFileId(id, PROTOCOL), type: "file_deleted" });
}

/** The id in the store. An id of another form is that of no file. */
function storedIdIn({ params }: Inbound): string {
  return storedFileId(pathParam(params, "id"), PROTOCOL) ?? "";
}
