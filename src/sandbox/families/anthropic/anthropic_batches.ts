import { isObject } from "../../../conversation/neutral/wire_value.ts";
import { bodyOf, type Call, jsonResponse, type VendorApi } from "../../call.ts";
import { SimulatedError } from "../../simulated_error.ts";
import {
  cancelBatch,
  type LineResult,
  loseIfOrdered,
  makeBatch,
  ownBatches,
  phaseOf,
  resultFile,
  resultsOf,
  type SimulatedBatch,
  type SimulatedLine,
} from "../batch_jobs.ts";

const MAX_REQUESTS = 100_000;
const MAX_BYTES = 256_000_000;
const MAX_PAGE = 1_000;
const DAY_MS = 86_400_000;

/** Answers about message batches; null for another path. Source: Messages API reference, "Message Batches". */
export function answerMessageBatch(call: Call, api: VendorApi): Promise<Response> | Response | null {
  const [, id, part = ""] = /^\/v1\/messages\/batches(?:\/([^/]+)(\/cancel|\/results)?)?$/.exec(call.path) ??
    [null, null];
  const action = `${call.method} ${part}`;
  if (id === null) return null;
  if (id === undefined) return call.method === "POST" ? create(call, api) : list(call, api);
  const batch = ownBatches(call).find((each) => each.id === id);
  if (batch === undefined) throw new SimulatedError(404, `No message batch with the id ${id}`);
  if (action === "GET ") return written(batch, call, api);
  if (action === "GET /results") return results(batch, call, api);
  if (action === "POST /cancel") return cancel(batch, call, api);
  return action === "DELETE " ? remove(batch, call) : null;
}

async function create(call: Call, api: VendorApi): Promise<Response> {
  if (call.text.length > MAX_BYTES) throw new SimulatedError(413, "Request exceeds the maximum size");
  const { requests, ...others } = bodyOf(call, "The request body is not valid JSON");
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new SimulatedError(400, `${unknown}: Extra inputs are not permitted`);
  if (!Array.isArray(requests) || requests.length === 0) {
    throw new SimulatedError(400, "requests: List should have at least 1 item");
  }
  if (requests.length > MAX_REQUESTS) throw new SimulatedError(400, `requests: at most ${MAX_REQUESTS}`);
  const ids = new Set<string>();
  const lines = requests.map((request: unknown, index): SimulatedLine => {
    const { custom_id: id, params } = isObject(request) ? request : {};
    const at = `requests.${index}`;
    if (typeof id !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(id)) {
      throw new SimulatedError(400, `${at}.custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`);
    }
    if (ids.has(id)) throw new SimulatedError(400, `${at}.custom_id: duplicate custom_id ${id}`);
    if (!isObject(params)) throw new SimulatedError(400, `${at}.params: Field required`);
    if ("stream" in params) throw new SimulatedError(400, `${at}.params.stream: Extra inputs are not permitted`);
    ids.add(id);
    return { id, path: "/v1/messages", text: JSON.stringify(params) };
  });
  const batch = makeBatch(call, { id: `msgbatch_01${call.vendors.nextId()}`, lines, request: {} });
  return loseIfOrdered(batch, await written(batch, call, api));
}

async function list(call: Call, api: VendorApi): Promise<Response> {
  const limit = Math.min(MAX_PAGE, Number(call.query.get("limit") ?? 20));
  const own = ownBatches(call);
  const after = call.query.get("after_id");
  const start = after === null ? 0 : own.findIndex(({ id }) => id === after) + 1;
  const page = own.slice(start, start + limit);
  const data = await Promise.all(page.map((batch) => batchObject(batch, call, api)));
  const ids = { first_id: page[0]?.id ?? null, last_id: page[page.length - 1]?.id ?? null };
  return jsonResponse({ data, ...ids, has_more: start + limit < own.length });
}

async function cancel(batch: SimulatedBatch, call: Call, api: VendorApi): Promise<Response> {
  if (statusOf(batch, call) === "ended") throw new SimulatedError(400, "The message batch has ended already");
  cancelBatch(batch, call.vendors.clock.now());
  return await written(batch, call, api);
}

function remove(batch: SimulatedBatch, call: Call): Response {
  if (statusOf(batch, call) !== "ended") throw new SimulatedError(400, "Cancel the message batch first");
  batch.isRemoved = true;
  return jsonResponse({ id: batch.id, type: "message_batch_deleted" });
}

async function results(batch: SimulatedBatch, call: Call, api: VendorApi): Promise<Response> {
  if (statusOf(batch, call) !== "ended") throw new SimulatedError(400, "The message batch has not ended");
  if (batch.directives.isGone) throw new SimulatedError(404, "The results are gone");
  const text = resultFile(batch, await resultsOf(batch, api, call), resultLine);
  return new Response(text, { headers: { "content-type": "application/x-jsonl" } });
}

function resultLine(result: LineResult) {
  const { id } = result;
  if (!("status" in result)) {
    return { custom_id: id, result: { type: result.unrun === "cancelled" ? "canceled" : "expired" } };
  }
  const { status, body } = result;
  if (status < 400 && isObject(body)) {
    const usage = isObject(body.usage) ? { ...body.usage, service_tier: "batch" } : body.usage;
    return { custom_id: id, result: { type: "succeeded", message: { ...body, usage } } };
  }
  const failed = { type: "error", error: { type: "api_error", message: "Internal server error" } };
  return { custom_id: id, result: { type: "errored", error: isObject(body) ? body : failed } };
}

function statusOf(batch: SimulatedBatch, { vendors }: Call): "in_progress" | "canceling" | "ended" {
  const phase = phaseOf(batch, vendors.clock.now());
  return phase === "running" ? "in_progress" : phase === "cancelling" ? "canceling" : "ended";
}

async function written(batch: SimulatedBatch, call: Call, api: VendorApi): Promise<Response> {
  return jsonResponse(await batchObject(batch, call, api));
}

async function batchObject(batch: SimulatedBatch, call: Call, api: VendorApi) {
  const { id, createdAt, lines, cancelledAt } = batch;
  const status = statusOf(batch, call);
  const ended = status === "ended" ? await resultsOf(batch, api, call) : [];
  const countOf = (is: (result: LineResult) => boolean) => ended.filter(is).length;
  const time = (ms: number) => new Date(ms).toISOString();
  return {
    id,
    type: "message_batch",
    processing_status: status,
    request_counts: {
      processing: lines.length - ended.length,
      succeeded: countOf((each) => "status" in each && each.status < 400),
      errored: countOf((each) => "status" in each && each.status >= 400),
      canceled: countOf((each) => "unrun" in each && each.unrun === "cancelled"),
      expired: countOf((each) => "unrun" in each && each.unrun === "expired"),
    },
    created_at: time(createdAt),
    expires_at: time(createdAt + DAY_MS),
    ended_at: status === "ended" ? time(call.vendors.clock.now()) : null,
    cancel_initiated_at: cancelledAt === null ? null : time(cancelledAt),
    archived_at: null,
    results_url: status === "ended" ? `/v1/messages/batches/${id}/results` : null,
  };
}
