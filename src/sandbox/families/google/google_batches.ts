import { isObject, parsedOrNull } from "../../../conversation/neutral/wire_value.ts";
import { bodyOf, type Call, jsonResponse, type VendorApi } from "../../call.ts";
import { SimulatedError } from "../../simulated_error.ts";
import type { SimulatedVendors } from "../../simulated_vendors.ts";
import {
  type BatchPhase,
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

const MAX_INLINE_BYTES = 20_000_000;
const MAX_FILE_BYTES = 2_000_000_000;
const FILE_LIFETIME_MS = 172_800_000;
const UNREADABLE = "Invalid JSON payload received. Expected a JSON object.";

/** The files of batches of all keys, by their names. A file whose text is null is gone. */
const filesOf = new WeakMap<SimulatedVendors, Map<string, string | null>>();
/** Names of the files with the results. */
const outputsOf = new WeakMap<SimulatedBatch, Promise<string>>();

/** Answers about batches and their files; null for another path. Source: Gemini API reference, "Batch API", "Files". */
export function answerContentBatch(call: Call, api: VendorApi): Promise<Response> | Response | null {
  const { method } = call;
  // Under each of its versions.
  const path = call.path.replace(/^\/(upload\/|download\/|)(?:v1|v1beta|v1alpha)\//, "/$1");
  if (method === "POST" && path === "/upload/files") return upload(call);
  const [, name = "", download] = /^\/(?:download\/)?(files\/[\w-]+)(:download)?$/.exec(path) ?? [];
  if (filesIn(call).has(name)) return answerFile(call, name, download !== undefined);
  const [, model, verb = ""] = /^\/models\/(.+):(batchGenerateContent|asyncBatchEmbedContent)$/.exec(path) ?? [];
  if (method === "POST" && model !== undefined) {
    const lineVerb = verb === "batchGenerateContent" ? "generateContent" : "embedContent";
    return create(call, api, { model: decodeURIComponent(model), lineVerb });
  }
  const [, id, cancels] = /^\/(batches(?:\/[\w-]+)?)(:cancel)?$/.exec(path) ?? [];
  if (id === undefined) return null;
  if (id === "batches") return list(call, api);
  const batch = ownBatches(call).find((each) => each.id === id);
  if (batch === undefined) throw new SimulatedError(404, `Requested entity was not found: ${id}`);
  if (method === "POST" && cancels !== undefined) return cancel(batch, call);
  if (method === "DELETE") return remove(batch);
  return method === "GET" ? written(batch, call, api) : null;
}

function filesIn({ vendors }: Call): Map<string, string | null> {
  const known = filesOf.get(vendors);
  if (known !== undefined) return known;
  const files = new Map<string, string | null>();
  filesOf.set(vendors, files);
  return files;
}

/** The two steps of a resumable upload. */
function upload(call: Call): Response {
  const { headers, query, vendors, text, prefix } = call;
  const command = headers.get("x-goog-upload-command");
  const uploadId = query.get("upload_id");
  if (command === "start") {
    if (headers.get("x-goog-upload-protocol") !== "resumable") throw invalid("Unsupported upload protocol");
    if (Number(headers.get("x-goog-upload-header-content-length")) > MAX_FILE_BYTES) throw invalid("File too large");
    const address = `http://${headers.get("host")}${prefix}/upload/v1beta/files?upload_id=${vendors.nextId()}`;
    return jsonResponse({}, { "x-goog-upload-url": address, "x-goog-upload-status": "active" });
  }
  if (uploadId === null || command !== "upload, finalize" || headers.get("x-goog-upload-offset") !== "0") {
    throw invalid("Invalid upload command");
  }
  const name = keep(call, text);
  return jsonResponse({ file: fileObject(call, name) }, { "x-goog-upload-status": "final" });
}

function keep(call: Call, text: string | null): string {
  const name = `files/${call.vendors.nextId().slice(0, 12)}`;
  filesIn(call).set(name, text);
  return name;
}

function answerFile(call: Call, name: string, isDownload: boolean): Response {
  const text = filesIn(call).get(name) ?? null;
  if (call.method === "DELETE") {
    filesIn(call).delete(name);
    return jsonResponse({});
  }
  if (!isDownload) return jsonResponse(fileObject(call, name));
  if (text === null) throw new SimulatedError(404, "Requested entity was not found.");
  return new Response(text, { headers: { "content-type": "application/jsonl" } });
}

function fileObject(call: Call, name: string) {
  const now = call.vendors.clock.now();
  return {
    name,
    mimeType: "application/jsonl",
    sizeBytes: String(filesIn(call).get(name)?.length ?? 0),
    createTime: new Date(now).toISOString(),
    expirationTime: new Date(now + FILE_LIFETIME_MS).toISOString(),
    state: "ACTIVE",
  };
}

/** The model of a batch, and what its lines ask of it. */
interface Asked {
  readonly model: string;
  readonly lineVerb: "generateContent" | "embedContent";
}

async function create(call: Call, api: VendorApi, { model, lineVerb }: Asked): Promise<Response> {
  const { batch: sent } = bodyOf(call, UNREADABLE);
  const { displayName, inputConfig } = isObject(sent) ? sent : {};
  if (typeof displayName !== "string" || displayName === "") throw invalid("batch.displayName must be set");
  const { fileName, requests } = isObject(inputConfig) ? inputConfig : {};
  if (call.text.length > MAX_INLINE_BYTES) throw invalid("Request payload size exceeds the limit: 20000000 bytes");
  const path = `/v1beta/models/${model}:${lineVerb}`;
  const lines = typeof fileName === "string" ? linesOf(textOf(call, fileName), path) : inlineLinesOf(requests, path);
  const id = `batches/${call.vendors.nextId()}`;
  const batch = makeBatch(call, { id, lines, request: { displayName, model: `models/${model}` } });
  return loseIfOrdered(batch, await written(batch, call, api));
}

function textOf(call: Call, name: string): string {
  const text = filesIn(call).get(name);
  if (typeof text !== "string") throw new SimulatedError(404, `File ${name} was not found.`);
  return text;
}

function linesOf(text: string, path: string): SimulatedLine[] {
  const lines: SimulatedLine[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const { key, request } = readObject(line);
    if (typeof key !== "string" || !isObject(request)) throw invalid(`Line ${index + 1} is no request with a key.`);
    lines.push({ id: key, path, text: JSON.stringify(request) });
  }
  if (lines.length === 0) throw invalid("The batch has no requests.");
  return lines;
}

function readObject(line: string) {
  const value = parsedOrNull(line);
  return isObject(value) ? value : {};
}

function inlineLinesOf(given: unknown, path: string): SimulatedLine[] {
  const { requests } = isObject(given) ? given : {};
  if (!Array.isArray(requests) || requests.length === 0) throw invalid("The batch has no requests.");
  return requests.map((each: unknown, index) => {
    const { request, metadata } = isObject(each) ? each : {};
    const { key } = isObject(metadata) ? metadata : {};
    return { id: typeof key === "string" ? key : String(index), path, text: JSON.stringify(request ?? {}) };
  });
}

async function list(call: Call, api: VendorApi): Promise<Response> {
  const size = Number(call.query.get("pageSize") ?? 50);
  const start = Number(call.query.get("pageToken") ?? 0);
  const own = ownBatches(call);
  const operations = await Promise.all(
    own.slice(start, start + size).map((batch) => operationOf(batch, call, api)),
  );
  return jsonResponse({ operations, ...start + size < own.length && { nextPageToken: String(start + size) } });
}

function cancel(batch: SimulatedBatch, call: Call): Response {
  if (isEnded(batch, call)) {
    throw new SimulatedError(400, "The batch has ended.", { grpcStatus: "FAILED_PRECONDITION" });
  }
  cancelBatch(batch, call.vendors.clock.now());
  return jsonResponse({});
}

function remove(batch: SimulatedBatch): Response {
  batch.isRemoved = true;
  return jsonResponse({});
}

const STATES: Readonly<Record<BatchPhase, string>> = {
  running: "BATCH_STATE_RUNNING",
  cancelling: "BATCH_STATE_RUNNING",
  completed: "BATCH_STATE_SUCCEEDED",
  failed: "BATCH_STATE_FAILED",
  cancelled: "BATCH_STATE_CANCELLED",
  expired: "BATCH_STATE_EXPIRED",
};

function isEnded(batch: SimulatedBatch, { vendors }: Call): boolean {
  return STATES[phaseOf(batch, vendors.clock.now())] !== STATES.running;
}

async function written(batch: SimulatedBatch, call: Call, api: VendorApi): Promise<Response> {
  return jsonResponse(await operationOf(batch, call, api));
}

async function operationOf(batch: SimulatedBatch, call: Call, api: VendorApi) {
  const { id, createdAt, request, lines, directives: { fail } } = batch;
  const phase = phaseOf(batch, call.vendors.clock.now());
  const done = isEnded(batch, call);
  const output = done && phase !== "failed" ? { responsesFile: await outputOf(batch, call, api) } : null;
  const time = (ms: number) => new Date(ms).toISOString();
  const code = fail === "token_limit_exceeded" ? 8 : 3;
  return {
    name: id,
    metadata: {
      "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
      ...request,
      state: STATES[phase],
      createTime: time(createdAt),
      updateTime: time(createdAt),
      batchStats: { requestCount: String(lines.length) },
      ...output && { output },
    },
    done,
    ...output && { response: { "@type": "type.googleapis.com/GenerateContentBatchOutput", ...output } },
    ...phase === "failed" && { error: { code, message: "The batch was refused." } },
  };
}

function outputOf(batch: SimulatedBatch, call: Call, api: VendorApi): Promise<string> {
  const known = outputsOf.get(batch);
  if (known !== undefined) return known;
  const made = resultsOf(batch, api, call).then((results) =>
    keep(call, batch.directives.isGone ? null : resultFile(batch, results, resultLine))
  );
  outputsOf.set(batch, made);
  return made;
}

/** The code of `google.rpc` for an HTTP status. */
const RPC_CODES: Readonly<Record<number, number>> = { 400: 3, 403: 7, 404: 5, 429: 8, 499: 1, 503: 14, 504: 4 };

function resultLine(result: LineResult) {
  const { id: key } = result;
  if (!("status" in result)) return { key, error: { code: 1, message: `The request was ${result.unrun}.` } };
  const { status, body } = result;
  if (status < 400 && isObject(body)) return { key, response: body };
  const { error } = isObject(body) ? body : {};
  const message = isObject(error) ? error.message : "Internal error encountered.";
  return { key, error: { code: RPC_CODES[status] ?? 13, message } };
}

function invalid(message: string): SimulatedError {
  return new SimulatedError(400, message);
}
