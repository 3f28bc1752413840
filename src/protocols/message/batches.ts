import { BATCH_LIMITS, type BatchRecord, isEnded, shownBatchId } from "../../services/batches/records/batch.ts";
import type { Batches } from "../../services/batches/batches.ts";
import type { NewBatch } from "../../services/batches/new_batch.ts";
import { inlineLines } from "../../services/batches/lines/inline_lines.ts";
import { openResults } from "../../services/batches/results.ts";
import type { Authenticate } from "../../money/billing/authenticate.ts";
import { addressOf } from "../../platform/endpoints/endpoint.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import type { BodyLimits } from "../../platform/http/bodies/body.ts";
import { readListBody } from "../../platform/http/bodies/list_body.ts";
import type { MediaBodyThread } from "../../platform/http/bodies/media_body.ts";
import type { SentList } from "../../platform/http/bodies/sent_list.ts";
import { checkMessageVersion } from "../../platform/http/request/credentials.ts";
import { isDryRun } from "../../platform/http/request/dry_run.ts";
import { type Inbound, limitIn, pathParam, readListQuery, type Route } from "../../platform/http/request/inbound.ts";
import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { checkAccess } from "../../money/limits/permission.ts";
import { batchTrialResponse } from "../batch_trial_response.ts";
import { routesAt } from "../route_at.ts";
import { writeServiceBatch } from "../service_batch.ts";
import { storedContentResponse } from "../stored_content_response.ts";

/** The dependencies of the endpoints of message batches. */
export interface MessageBatchParts {
  readonly batches: Batches;
  readonly authenticate: Authenticate;
  readonly bodyLimits: BodyLimits;
  readonly bodyThread: MediaBodyThread;
  /** Gives the gateway's own address without a final slash. */
  readonly baseUrl: () => string;
}

const PROTOCOL = "message";
const PAGE_SIZES = { usual: 20, max: 1_000 };
const LISTS = [["requests"]];
const LIST_PARAMETERS: readonly string[] = ["after_id", "before_id", "limit"];

/**
 * `/msgcompat/v1/messages/batches` and the paths below it: create, list, get, results, cancel and delete.
 * Source: docs/api/batches.md#message-protocol.
 */
export function messageBatchRoutes(parts: MessageBatchParts): Route[] {
  return [
    ...routesAt(ENDPOINTS.createMessageBatch, (inbound) => create(inbound, parts)),
    ...routesAt(ENDPOINTS.listMessageBatches, (inbound) => list(inbound, parts)),
    ...routesAt(ENDPOINTS.readMessageBatch, (inbound) => read(inbound, parts)),
    ...routesAt(ENDPOINTS.readMessageBatchResults, (inbound) => results(inbound, parts)),
    ...routesAt(ENDPOINTS.cancelMessageBatch, (inbound) => cancel(inbound, parts)),
    ...routesAt(ENDPOINTS.deleteMessageBatch, (inbound) => remove(inbound, parts)),
  ];
}

/**
 * A batch as Anthropic's clients read it. All requests count as `processing` until it has ended.
 *
 * @param baseUrl The gateway's own address without a final slash.
 */
export function writeMessageBatch(batch: BatchRecord, baseUrl: string): Record<string, unknown> {
  const id = shownBatchId(batch);
  const { status, total, completed, failed } = batch;
  const hasEnded = isEnded(batch);
  const notRun = total - completed - failed;
  return {
    id,
    type: "message_batch",
    processing_status: hasEnded ? "ended" : status === "cancelling" ? "canceling" : "in_progress",
    request_counts: {
      processing: hasEnded ? 0 : total,
      succeeded: hasEnded ? completed : 0,
      errored: (hasEnded ? failed : 0) + (status === "failed" ? notRun : 0),
      canceled: status === "cancelled" ? notRun : 0,
      expired: status === "expired" ? notRun : 0,
    },
    created_at: timeOf(batch.createdAt),
    expires_at: timeOf(batch.expiresAt),
    ended_at: timeOf(batch.endedAt),
    cancel_initiated_at: timeOf(batch.cancellingAt),
    archived_at: null,
    results_url: hasEnded ? baseUrl + addressOf(ENDPOINTS.readMessageBatchResults, { id }) : null,
    service_batch: writeServiceBatch(batch),
  };
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

async function create(inbound: Inbound, parts: MessageBatchParts): Promise<Response> {
  const { batches, authenticate, bodyLimits, bodyThread, baseUrl } = parts;
  const credential = await authenticate(inbound);
  const { headers } = inbound.request;
  checkMessageVersion(headers);
  // A key needs the permission of the endpoint of the lines, too.
  if (credential.limits !== null) checkAccess(credential.limits, ENDPOINTS.createMessage, inbound.remote);
  const { list } = await readListBody(inbound, {
    limits: bodyLimits,
    lists: LISTS,
    thread: bodyThread,
    accountId: credential.accountId,
  });
  const batch = newBatchOf(list, headers.get("anthropic-beta"));
  if (isDryRun(headers)) return batchTrialResponse(await batches.dryRun(batch, credential));
  inbound.record.kind = "batch";
  return Response.json(writeMessageBatch(await batches.create(batch, credential), baseUrl()));
}

function newBatchOf(requests: SentList | null, betas: string | null): NewBatch {
  const { lines: max } = BATCH_LIMITS;
  if (requests === null || requests.length === 0 || requests.length > max) {
    throw invalidField("requests", `expected 1 to ${max} requests`);
  }
  return {
    protocol: PROTOCOL,
    ...betas !== null && { betas },
    endpoint: ENDPOINTS.createMessage.path,
    inputFileId: null,
    lines: inlineLines(requests, null),
    lineBytes: requests.bytes.length,
    completionWindow: "24h",
    metadata: null,
    callbackUrl: null,
    outputSeconds: null,
  };
}

async function list(inbound: Inbound, { batches, authenticate, baseUrl }: MessageBatchParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  const query = readListQuery(inbound.query, {
    isKnown: (name) => LIST_PARAMETERS.includes(name),
    expectation: `expected ${LIST_PARAMETERS.join(", ")}`,
  });
  const [after, before] = [query.get("after_id"), query.get("before_id")];
  if (after !== null && before !== null) throw invalidField("before_id", "expected it without after_id");
  const limit = limitIn(query, PAGE_SIZES);
  const found = await batches.list(keyId, { after, before, limit }, PROTOCOL);
  const data = found.batches.map((batch) => writeMessageBatch(batch, baseUrl()));
  return Response.json({
    data,
    has_more: found.hasMore,
    first_id: data[0]?.id ?? null,
    last_id: data[data.length - 1]?.id ?? null,
  });
}

async function read(inbound: Inbound, { batches, authenticate, baseUrl }: MessageBatchParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  return Response.json(writeMessageBatch(await batches.read(keyId, idIn(inbound), PROTOCOL), baseUrl()));
}

async function results(inbound: Inbound, { batches, authenticate }: MessageBatchParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  const batch = await batches.read(keyId, idIn(inbound), PROTOCOL);
  if (!isEnded(batch)) {
    throw new GatewayError("not_found", "Cannot find the results: the batch has not ended; see its processing_status");
  }
  const content = await openResults(batch, batches.parts.stored);
  const name = `${shownBatchId(batch)}_results.jsonl`;
  return await storedContentResponse(content, { method: inbound.method, name, mediaType: "application/x-jsonl" });
}

async function cancel(inbound: Inbound, { batches, authenticate, baseUrl }: MessageBatchParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  await inbound.request.body?.cancel();
  return Response.json(writeMessageBatch(await batches.cancel(keyId, idIn(inbound), PROTOCOL), baseUrl()));
}

async function remove(inbound: Inbound, { batches, authenticate }: MessageBatchParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  const id = idIn(inbound);
  await batches.remove(keyId, id, { protocol: PROTOCOL, ends: false });
  return Response.json({ id, type: "message_batch_deleted" });
}

function idIn({ params }: Inbound): string {
  return pathParam(params, "id");
}
