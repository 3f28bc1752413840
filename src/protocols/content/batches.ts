import { BATCH_LIMITS, isEnded, shownBatchId } from "../../services/batches/records/batch.ts";
import type { Batches } from "../../services/batches/batches.ts";
import { inlineLines } from "../../services/batches/lines/inline_lines.ts";
import type { NewBatch } from "../../services/batches/new_batch.ts";
import type { Authenticate } from "../../money/billing/authenticate.ts";
import type { Endpoint } from "../../platform/endpoints/endpoint.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import type { BodyLimits } from "../../platform/http/bodies/body.ts";
import { type ListBody, readListBody } from "../../platform/http/bodies/list_body.ts";
import type { MediaBodyThread } from "../../platform/http/bodies/media_body.ts";
import { isDryRun } from "../../platform/http/request/dry_run.ts";
import { type Inbound, pathParam, type Route } from "../../platform/http/request/inbound.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { bareModelName } from "../../platform/names/bare_model_name.ts";
import { checkAccess } from "../../money/limits/permission.ts";
import { storedFileId } from "../../services/stored_files/stored_file.ts";
import { batchTrialResponse } from "../batch_trial_response.ts";
import { routesAt } from "../route_at.ts";
import { contentBatchResponse, writeContentBatch } from "./batch_operation.ts";
import { readPageQuery } from "./cached_contents.ts";
import { memberIn, objectIn, textIn } from "./spelling.ts";

/** The dependencies of the endpoints of batches of the content protocol. */
export interface ContentBatchParts {
  readonly batches: Batches;
  readonly authenticate: Authenticate;
  readonly bodyLimits: BodyLimits;
  readonly bodyThread: MediaBodyThread;
}

const PROTOCOL = "content";
/** Where the requests of a create are, if no file has them. */
const LISTS = ["inputConfig", "input_config"].map((name) => ["batch", name, "requests", "requests"]);
const PAGE_SIZES = { usual: 20, max: 100 };
const MAX_DISPLAY_NAME_CHARACTERS = 512;

/**
 * `:batchGenerateContent` and `:asyncBatchEmbedContent` of a model, and `/gencompat/v1beta/batches`: list, get, cancel
 * and delete. Source: docs/api/batches.md#content-protocol.
 */
export function contentBatchRoutes(parts: ContentBatchParts): Route[] {
  return [
    ...routesAt(ENDPOINTS.createContentBatch, (inbound) => create(inbound, ENDPOINTS.generateContent, parts)),
    ...routesAt(ENDPOINTS.createEmbedBatch, (inbound) => create(inbound, ENDPOINTS.embedContent, parts)),
    ...routesAt(ENDPOINTS.listContentBatches, (inbound) => list(inbound, parts)),
    ...routesAt(ENDPOINTS.readContentBatch, (inbound) => read(inbound, parts)),
    ...routesAt(ENDPOINTS.cancelContentBatch, (inbound) => cancel(inbound, parts)),
    ...routesAt(ENDPOINTS.deleteContentBatch, (inbound) => remove(inbound, parts)),
  ];
}

/** @param row The endpoint of the lines. */
async function create(inbound: Inbound, row: Endpoint, parts: ContentBatchParts): Promise<Response> {
  const { batches, authenticate, bodyLimits, bodyThread } = parts;
  const credential = await authenticate(inbound);
  const { accountId } = credential;
  // A key needs the permission of the endpoint of the lines, too.
  if (credential.limits !== null) checkAccess(credential.limits, row, inbound.remote);
  const sent = await readListBody(inbound, { limits: bodyLimits, lists: LISTS, thread: bodyThread, accountId });
  const batch = {
    ...newBatchOf(sent),
    endpoint: row.path,
    model: bareModelName(pathParam(inbound.params, "model")),
  };
  if (isDryRun(inbound.request.headers)) return batchTrialResponse(await batches.dryRun(batch, credential));
  inbound.record.kind = "batch";
  return Response.json(writeContentBatch(await batches.create(batch, credential)));
}

function newBatchOf(sent: ListBody): Omit<NewBatch, "endpoint"> {
  const asked = objectIn(sent.body, "batch") ?? {};
  const displayName = textIn(asked, "displayName", "batch.");
  if (displayName !== undefined && displayName.length > MAX_DISPLAY_NAME_CHARACTERS) {
    throw invalidField("batch.displayName", `expected at most ${MAX_DISPLAY_NAME_CHARACTERS} characters`);
  }
  return {
    protocol: PROTOCOL,
    ...displayName !== undefined && { displayName },
    ...inputOf(sent),
    completionWindow: "24h",
    metadata: null,
    callbackUrl: callbackIn(objectIn(asked, "webhookConfig", "batch.")),
    outputSeconds: null,
  };
}

/** The file of the lines, or the requests of the create. */
function inputOf({ body, list }: ListBody): Pick<NewBatch, "inputFileId" | "lines" | "lineBytes"> {
  const batch = objectIn(body, "batch") ?? {};
  const input = objectIn(batch, "inputConfig", "batch.") ?? {};
  const path = "batch.inputConfig.";
  const fileName = textIn(input, "fileName", path);
  const requests = memberIn(objectIn(input, "requests", path) ?? {}, "requests");
  if ((fileName === undefined) === (requests === undefined)) {
    throw invalidField("batch.inputConfig", "expected fileName, or requests.requests in its place");
  }
  // The name of no file is that of one that does not exist.
  if (fileName !== undefined) return { inputFileId: storedFileId(fileName, PROTOCOL) ?? "", lines: null };
  const { inlineRequests: max } = BATCH_LIMITS;
  if (!Array.isArray(requests) || list === null || list.length === 0 || list.length > max) {
    throw invalidField(`${path}requests.requests`, `expected 1 to ${max} requests`);
  }
  return { inputFileId: null, lines: inlineLines(list, null), lineBytes: list.bytes.length };
}

function callbackIn(webhook: Readonly<Record<string, unknown>> | undefined): string | null {
  if (webhook === undefined) return null;
  const { uris } = webhook;
  const [uri] = Array.isArray(uris) && uris.length === 1 ? uris : [];
  if (typeof uri !== "string") throw invalidField("batch.webhookConfig.uris", "expected one address");
  return uri;
}

async function list(inbound: Inbound, { batches, authenticate }: ContentBatchParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  const page = readPageQuery(inbound.query, PAGE_SIZES);
  const found = await batches.list(keyId, page, PROTOCOL);
  const last = found.batches[found.batches.length - 1];
  return Response.json({
    operations: found.batches.map((batch) => writeContentBatch(batch)),
    nextPageToken: found.hasMore && last !== undefined ? shownBatchId(last) : undefined,
  });
}

async function read(inbound: Inbound, { batches, authenticate }: ContentBatchParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  const batch = await batches.read(keyId, nameIn(inbound), PROTOCOL);
  return inbound.method === "HEAD"
    ? Response.json(writeContentBatch(batch))
    : await contentBatchResponse(batch, batches.parts.stored);
}

/** As at the vendor, a batch that has ended stays as it is. */
async function cancel(inbound: Inbound, { batches, authenticate }: ContentBatchParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  await inbound.request.body?.cancel();
  const batch = await batches.read(keyId, nameIn(inbound), PROTOCOL);
  if (!isEnded(batch) && batch.status !== "finalizing") await batches.cancel(keyId, nameIn(inbound), PROTOCOL);
  return Response.json({});
}

async function remove(inbound: Inbound, { batches, authenticate }: ContentBatchParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  await batches.remove(keyId, nameIn(inbound), { protocol: PROTOCOL, ends: true });
  return Response.json({});
}

function nameIn({ params }: Inbound): string {
  return `batches/${pathParam(params, "id")}`;
}
