import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import {
  type Inbound,
  limitIn,
  oneOfIn,
  pathParam,
  readListQuery,
  type Route,
} from "../../platform/http/request/inbound.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import {
  FILE_PURPOSES,
  type FilePurpose,
  type StoredFileRecord,
  UPLOAD_PURPOSES,
} from "../../services/stored_files/stored_file.ts";
import { routesAt } from "../route_at.ts";
import { downloadNameOf, storedContentResponse } from "../stored_content_response.ts";
import { countChange, readSeconds, type StoredFileRouteParts, storeFormFile } from "../stored_file_parts.ts";

const TEXTS = new Set(["purpose", "expires_after[anchor]", "expires_after[seconds]"]);
const LIST_PARAMETERS: ReadonlySet<string> = new Set(["after", "limit", "order", "purpose"]);
const PAGE_SIZES = { usual: 10_000, max: 10_000 };

/** `POST /v1/files`, `GET /v1/files`, and `GET`, `DELETE` and `/content` of one file. */
export function storedFileRoutes(parts: StoredFileRouteParts): Route[] {
  return [
    ...routesAt(ENDPOINTS.createFile, (inbound) => create(inbound, parts)),
    ...routesAt(ENDPOINTS.listFiles, (inbound) => list(inbound, parts)),
    ...routesAt(ENDPOINTS.readStoredFile, (inbound) => read(inbound, parts)),
    ...routesAt(ENDPOINTS.readFileContent, (inbound) => content(inbound, parts)),
    ...routesAt(ENDPOINTS.deleteFile, (inbound) => remove(inbound, parts)),
  ];
}

/** A file as OpenAI's clients read it. */
export function writeFile(file: StoredFileRecord): Record<string, unknown> {
  const { id, bytes, createdAt, expiresAt, filename, purpose } = file;
  return {
    id,
    object: "file",
    bytes,
    created_at: secondsOf(createdAt),
    ...expiresAt !== null && { expires_at: secondsOf(expiresAt) },
    filename,
    purpose,
    status: "processed",
  };
}

/** The purpose of a file that a caller stores. @throws {GatewayError} `invalid_request`. */
export function readPurpose(value: unknown): FilePurpose {
  const purpose = UPLOAD_PURPOSES.find((each) => each === value);
  if (purpose === undefined) throw invalidField("purpose", `expected one of ${UPLOAD_PURPOSES.join(", ")}`);
  return purpose;
}

/** A lifetime in seconds; null if the caller sets none. @throws {GatewayError} `invalid_request`. */
export function readLifetime(anchor: unknown, seconds: unknown): number | null {
  if (anchor === undefined && seconds === undefined) return null;
  if (anchor !== "created_at") throw invalidField("expires_after.anchor", 'expected "created_at"');
  return readSeconds(seconds, "expires_after.seconds");
}

async function create(inbound: Inbound, parts: StoredFileRouteParts): Promise<Response> {
  const owner = await parts.authenticate(inbound);
  await countChange(parts.changes, owner.keyId);
  const file = await storeFormFile(inbound, parts, {
    owner,
    texts: TEXTS,
    read: (fields) => {
      const seconds = fields.get("expires_after[seconds]");
      return {
        purpose: readPurpose(fields.get("purpose")),
        lifetimeSeconds: readLifetime(fields.get("expires_after[anchor]"), seconds && Number(seconds)),
      };
    },
  });
  return Response.json(writeFile(file));
}

async function list(inbound: Inbound, { stored, authenticate }: StoredFileRouteParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  const { files, hasMore } = await stored.list(keyId, pageIn(inbound.query));
  return Response.json({
    object: "list",
    data: files.map(writeFile),
    first_id: files[0]?.id ?? null,
    last_id: files[files.length - 1]?.id ?? null,
    has_more: hasMore,
  });
}

function pageIn(text: string) {
  const query = readListQuery(text, {
    isKnown: (name) => LIST_PARAMETERS.has(name),
    expectation: `expected ${[...LIST_PARAMETERS].join(", ")}`,
    isOnce: true,
  });
  return {
    after: query.get("after"),
    limit: limitIn(query, PAGE_SIZES),
    reverse: (oneOfIn(query, "order", ["asc", "desc"]) ?? "desc") === "desc",
    purpose: oneOfIn(query, "purpose", FILE_PURPOSES),
  };
}

async function read(inbound: Inbound, { stored, authenticate }: StoredFileRouteParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  return Response.json(writeFile(await stored.read(keyId, pathParam(inbound.params, "id"))));
}

async function content(inbound: Inbound, { stored, authenticate }: StoredFileRouteParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  const file = await stored.read(keyId, pathParam(inbound.params, "id"));
  return await storedContentResponse(await stored.open(file), { method: inbound.method, name: downloadNameOf(file) });
}

async function remove(inbound: Inbound, parts: StoredFileRouteParts): Promise<Response> {
  const { stored, authenticate, changes, room } = parts;
  const { keyId, accountId } = await authenticate(inbound);
  await countChange(changes, keyId);
  const id = pathParam(inbound.params, "id");
  const { bytes } = await stored.remove(keyId, id);
  room.giveBack(accountId, bytes);
  return Response.json({ id, object: "file", deleted: true });
}
