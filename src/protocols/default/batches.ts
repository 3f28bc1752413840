import {
  BATCH_LIMITS,
  type BatchRecord,
  COMPLETION_WINDOWS,
  LINE_ENDPOINTS,
} from "../../services/batches/records/batch.ts";
import type { Batches } from "../../services/batches/batches.ts";
import type { NewBatch } from "../../services/batches/new_batch.ts";
import { inlineLines } from "../../services/batches/lines/inline_lines.ts";
import type { Authenticate } from "../../money/billing/authenticate.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import type { BodyLimits } from "../../platform/http/bodies/body.ts";
import { isDryRun } from "../../platform/http/request/dry_run.ts";
import { type Inbound, limitIn, pathParam, readListQuery, type Route } from "../../platform/http/request/inbound.ts";
import { type ListBody, readListBody } from "../../platform/http/bodies/list_body.ts";
import type { MediaBodyThread } from "../../platform/http/bodies/media_body.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { checkAccess } from "../../money/limits/permission.ts";
import { batchTrialResponse } from "../batch_trial_response.ts";
import { routesAt } from "../route_at.ts";
import { writeServiceBatch } from "../service_batch.ts";
import { readMetadata } from "../../services/videos/request/metadata.ts";
import { dialectNameOf } from "./videos/video_dialects.ts";
import { readLifetime } from "./stored_files.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";

/** The dependencies of the endpoints of batches. */
export interface BatchRouteParts {
  readonly batches: Batches;
  readonly authenticate: Authenticate;
  readonly bodyLimits: BodyLimits;
  readonly bodyThread: MediaBodyThread;
}

/** Where the requests of a create are, if no file has them. */
const LISTS = [["requests"]];
const PAGE_SIZES = { usual: 20, max: 100 };

/** `POST /v1/batches`, `GET /v1/batches`, and `GET` and `/cancel` of one batch. */
export function batchRoutes(parts: BatchRouteParts): Route[] {
  return [
    ...routesAt(ENDPOINTS.createBatch, (inbound) => create(inbound, parts)),
    ...routesAt(ENDPOINTS.listBatches, (inbound) => list(inbound, parts)),
    ...routesAt(ENDPOINTS.readBatch, (inbound) => read(inbound, parts)),
    ...routesAt(ENDPOINTS.cancelBatch, (inbound) => cancel(inbound, parts)),
  ];
}

/** A batch as OpenAI's clients read it. */
export function writeBatch(batch: BatchRecord): Record<string, unknown> {
  const { id, status, endedAt, usage, errors } = batch;
  const at = (ms: number | null) => ms === null ? null : secondsOf(ms);
  const endedAs = (end: BatchRecord["status"]) => status === end ? at(endedAt) : null;
  return {
    id,
    object: "batch",
    endpoint: batch.endpoint,
    model: batch.model,
    errors: errors.length === 0 ? null : { object: "list", data: errors },
    input_file_id: batch.inputFileId,
    completion_window: batch.completionWindow,
    status,
    output_file_id: batch.outputFileId,
    error_file_id: batch.errorFileId,
    created_at: secondsOf(batch.createdAt),
    in_progress_at: status === "failed" ? null : secondsOf(batch.createdAt),
    expires_at: secondsOf(batch.expiresAt),
    finalizing_at: at(batch.finalizingAt),
    completed_at: endedAs("completed"),
    failed_at: endedAs("failed"),
    expired_at: endedAs("expired"),
    cancelling_at: at(batch.cancellingAt),
    cancelled_at: endedAs("cancelled"),
    request_counts: { total: batch.total, completed: batch.completed, failed: batch.failed },
    metadata: batch.metadata,
    usage: {
      input_tokens: usage.inputTokens,
      input_tokens_details: { cached_tokens: usage.cachedTokens },
      output_tokens: usage.outputTokens,
      output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
      total_tokens: usage.inputTokens + usage.outputTokens,
    },
    service_batch: writeServiceBatch(batch),
  };
}

async function create(inbound: Inbound, parts: BatchRouteParts): Promise<Response> {
  const { batches, authenticate, bodyLimits, bodyThread } = parts;
  const credential = await authenticate(inbound);
  const { accountId } = credential;
  const sent = await readListBody(inbound, { limits: bodyLimits, lists: LISTS, thread: bodyThread, accountId });
  const client = dialectNameOf(inbound.request.headers);
  const batch = { ...newBatchOf(sent), ...client !== undefined && { client } };
  // A key needs the permission of the endpoint of the lines, too.
  const row = LINE_ENDPOINTS.get(batch.endpoint);
  if (credential.limits !== null && row !== undefined) checkAccess(credential.limits, row, inbound.remote);
  if (isDryRun(inbound.request.headers)) return batchTrialResponse(await batches.dryRun(batch, credential));
  inbound.record.kind = "batch";
  const created = await batches.create(batch, credential);
  return Response.json(writeBatch(created), { status: batch.inputFileId === null ? 202 : 200 });
}

function newBatchOf({ body, list }: ListBody): NewBatch {
  const { input_file_id: inputFileId, requests, callback_url: callbackUrl = null } = body;
  const { endpoint } = body;
  if (typeof endpoint !== "string" || !LINE_ENDPOINTS.has(endpoint)) {
    throw invalidField("endpoint", `expected one of ${[...LINE_ENDPOINTS.keys()].join(", ")}`);
  }
  const { completion_window: window = requests === undefined ? undefined : "24h" } = body;
  if (typeof window !== "string" || ownValue(COMPLETION_WINDOWS, window) === undefined) {
    throw invalidField("completion_window", `expected ${Object.keys(COMPLETION_WINDOWS).join(" or ")}`);
  }
  if ((inputFileId === undefined) === (requests === undefined)) {
    throw invalidField("input_file_id", "expected it, or requests in its place");
  }
  if (inputFileId !== undefined && typeof inputFileId !== "string") {
    throw invalidField("input_file_id", "expected the id of a file");
  }
  if (callbackUrl !== null && typeof callbackUrl !== "string") {
    throw invalidField("callback_url", "expected an address");
  }
  const { inlineRequests: max } = BATCH_LIMITS;
  if (requests !== undefined && (list === null || list.length === 0 || list.length > max)) {
    throw invalidField("requests", `expected 1 to ${max} requests`);
  }
  if (body.model !== undefined && typeof body.model !== "string") throw invalidField("model", "expected a name");
  return {
    endpoint,
    inputFileId: inputFileId ?? null,
    lines: list === null ? null : inlineLines(list, body.model ?? null),
    ...list !== null && { lineBytes: list.bytes.length },
    completionWindow: window,
    metadata: readMetadata(body.metadata),
    callbackUrl,
    outputSeconds: lifetimeIn(body.output_expires_after),
  };
}

function lifetimeIn(after: unknown): number | null {
  if (after === undefined || after === null) return null;
  if (typeof after !== "object" || Array.isArray(after)) {
    throw invalidField("output_expires_after", "expected an object");
  }
  const { anchor = null, seconds = null }: { readonly anchor?: unknown; readonly seconds?: unknown } = after;
  return readLifetime(anchor, seconds);
}

async function list(inbound: Inbound, { batches, authenticate }: BatchRouteParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  const query = readListQuery(inbound.query, {
    isKnown: (name) => name === "after" || name === "limit",
    expectation: "expected after or limit",
  });
  const found = await batches.list(keyId, { after: query.get("after"), limit: limitIn(query, PAGE_SIZES) });
  return Response.json({
    object: "list",
    data: found.batches.map(writeBatch),
    first_id: found.batches[0]?.id ?? null,
    last_id: found.batches[found.batches.length - 1]?.id ?? null,
    has_more: found.hasMore,
  });
}

async function read(inbound: Inbound, { batches, authenticate }: BatchRouteParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  return Response.json(writeBatch(await batches.read(keyId, pathParam(inbound.params, "id"))));
}

async function cancel(inbound: Inbound, { batches, authenticate }: BatchRouteParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  await inbound.request.body?.cancel();
  return Response.json(writeBatch(await batches.cancel(keyId, pathParam(inbound.params, "id"))));
}
