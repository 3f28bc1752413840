import { isObject, parsedOrNull } from "../../../conversation/neutral/wire_value.ts";
import { bodyOf, type Call, jsonResponse, type VendorApi } from "../../call.ts";
import { SimulatedError } from "../../simulated_error.ts";
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
import { keepFile, ownFile } from "./openai_files.ts";

const ENDPOINTS: ReadonlySet<unknown> = new Set([
  "/v1/responses",
  "/v1/chat/completions",
  "/v1/embeddings",
  "/v1/completions",
  "/v1/moderations",
  "/v1/images/generations",
  "/v1/images/edits",
  "/v1/videos",
]);
const MAX_LINES = 50_000;
const MAX_BYTES = 200_000_000;
/** Of all lines of a batch of embeddings. */
const MAX_INPUTS = 50_000;
const MAX_PAGE = 100;
const DAY_SECONDS = 86_400;

/** What a batch has besides its lines: the mistakes of its file, and the files of its results. */
interface Extras {
  readonly errors: readonly LineMistake[];
  files: Promise<{ readonly output: string | null; readonly error: string | null }> | null;
}

interface LineMistake {
  readonly code: string;
  readonly message: string;
  readonly line: number | null;
}

const extrasOf = new WeakMap<SimulatedBatch, Extras>();

/** Answers about batches; null for another path. Source: OpenAI API reference, "Batch". */
export function answerBatch(call: Call, api: VendorApi): Promise<Response> | null {
  const [, id, cancel] = /^\/v1\/batches(?:\/([^/]+)(\/cancel)?)?$/.exec(call.path) ?? [null, null];
  if (id === null) return null;
  if (id === undefined) {
    return call.method === "POST" ? create(call, api) : call.method === "GET" ? list(call, api) : null;
  }
  if (call.method === "POST" && cancel !== undefined) return cancelOne(call, api, id);
  return call.method === "GET" && cancel === undefined ? written(ownBatch(call, id), call, api) : null;
}

async function create(call: Call, api: VendorApi): Promise<Response> {
  const body = bodyOf(call, "We could not parse the JSON body of your request.");
  const { input_file_id: fileId, endpoint, completion_window: window, metadata, ...others } = body;
  const [unknown] = Object.keys(others).filter((name) => name !== "output_expires_after");
  if (unknown !== undefined) throw invalid(`Unknown parameter: '${unknown}'.`, unknown);
  if (typeof fileId !== "string") throw invalid("Missing required parameter: 'input_file_id'.", "input_file_id");
  if (!ENDPOINTS.has(endpoint)) throw invalid(`Invalid value: '${endpoint}'.`, "endpoint");
  if (window !== "24h") throw invalid(`Invalid value: '${window}'. Supported values are: '24h'.`, "completion_window");
  checkMetadata(metadata);
  const file = ownFile(call, fileId);
  if (file.purpose !== "batch") throw invalid("Invalid file purpose for batch: expected 'batch'.", "input_file_id");
  const { lines, errors } = linesOf(file.text ?? "", String(endpoint));
  const batch = makeBatch(call, { id: `batch_${call.vendors.nextId()}`, lines, request: body });
  extrasOf.set(batch, { errors, files: null });
  return loseIfOrdered(batch, await written(batch, call, api));
}

function checkMetadata(metadata: unknown): void {
  if (metadata === undefined || metadata === null) return;
  const pairs = isObject(metadata) ? Object.entries(metadata) : [];
  const isValid = isObject(metadata) && pairs.length <= 16 &&
    pairs.every(([key, value]) => key.length <= 64 && typeof value === "string" && value.length <= 512);
  if (!isValid) throw invalid("Invalid 'metadata': expected at most 16 pairs of text.", "metadata");
}

function linesOf(text: string, endpoint: string): { readonly lines: SimulatedLine[]; readonly errors: LineMistake[] } {
  const lines: SimulatedLine[] = [];
  const errors: LineMistake[] = [];
  const ids = new Set<unknown>();
  const models = new Set<unknown>();
  let inputs = 0;
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const note = (code: string, message: string) => errors.push({ code, message, line: index + 1 });
    const sent = parsedOrNull(line);
    if (!isObject(sent)) {
      note("invalid_json_line", "This line is not parseable as valid JSON.");
      continue;
    }
    const { custom_id: id, method, url, body } = sent;
    if (typeof id !== "string" || method !== "POST" || !isObject(body)) {
      note("missing_required_parameter", "A line needs custom_id, method, url and body.");
      continue;
    }
    if (ids.has(id)) note("duplicate_custom_id", `The custom_id '${id}' is used twice.`);
    if (url !== endpoint) note("invalid_url", "The URL provided for this request does not match the batch endpoint.");
    if (body.stream === true || body.background === true) note("invalid_request", "Streams are not supported.");
    ids.add(id);
    models.add(body.model);
    if (endpoint === "/v1/embeddings") inputs += inputsIn(body.input);
    lines.push({ id, path: endpoint, text: JSON.stringify(body) });
  }
  const whole = (code: string, message: string) => errors.push({ code, message, line: null });
  if (lines.length === 0) whole("empty_file", "The file is empty.");
  if (lines.length > MAX_LINES) whole("too_many_tasks", `A batch has at most ${MAX_LINES} requests.`);
  if (inputs > MAX_INPUTS) whole("too_many_tasks", `A batch of embeddings has at most ${MAX_INPUTS} inputs.`);
  if (text.length > MAX_BYTES) whole("file_too_large", `A file of a batch has at most ${MAX_BYTES} bytes.`);
  if (models.size > 1) whole("mismatched_model", "All requests of a batch must name one model.");
  return { lines, errors };
}

/** A list of numbers is one input: the ids of its tokens. */
function inputsIn(input: unknown): number {
  return Array.isArray(input) && typeof input[0] !== "number" ? input.length : 1;
}

async function list(call: Call, api: VendorApi): Promise<Response> {
  const limit = Math.min(MAX_PAGE, Number(call.query.get("limit") ?? 20));
  const own = ownBatches(call);
  const after = call.query.get("after");
  const start = after === null ? 0 : own.findIndex(({ id }) => id === after) + 1;
  const page = own.slice(start, start + limit);
  const data = await Promise.all(page.map((batch) => batchObject(batch, call, api)));
  const ids = { first_id: page[0]?.id ?? null, last_id: page[page.length - 1]?.id ?? null };
  return jsonResponse({ object: "list", data, ...ids, has_more: start + limit < own.length });
}

async function cancelOne(call: Call, api: VendorApi, id: string): Promise<Response> {
  const batch = ownBatch(call, id);
  const status = statusOf(batch, call);
  if (status !== "in_progress" && status !== "cancelling") {
    throw new SimulatedError(409, `Cannot cancel a batch with status '${status}'.`);
  }
  cancelBatch(batch, call.vendors.clock.now());
  return await written(batch, call, api);
}

function ownBatch(call: Call, id: string): SimulatedBatch {
  const batch = ownBatches(call).find((each) => each.id === id);
  if (batch === undefined || !extrasOf.has(batch)) throw new SimulatedError(404, `No batch found with id '${id}'.`);
  return batch;
}

async function written(batch: SimulatedBatch, call: Call, api: VendorApi): Promise<Response> {
  return jsonResponse(await batchObject(batch, call, api));
}

const STATUSES: Readonly<Record<BatchPhase, string>> = {
  running: "in_progress",
  cancelling: "cancelling",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
  expired: "expired",
};

function statusOf(batch: SimulatedBatch, { vendors }: Call): string {
  const { errors = [] } = extrasOf.get(batch) ?? {};
  return errors.length > 0 ? "failed" : STATUSES[phaseOf(batch, vendors.clock.now())];
}

async function batchObject(batch: SimulatedBatch, call: Call, api: VendorApi) {
  const { id, createdAt, request, directives: { fail }, lines } = batch;
  const status = statusOf(batch, call);
  const hasResults = status === "completed" || status === "cancelled" || status === "expired";
  const files = hasResults ? await filesOf(batch, call, api) : { output: null, error: null };
  const errors = fail === null
    ? extrasOf.get(batch)?.errors ?? []
    : [{ code: fail, message: "The batch was refused.", line: null }];
  const seconds = Math.floor(createdAt / 1000);
  return {
    id,
    object: "batch",
    endpoint: request.endpoint,
    errors: status === "failed" ? { object: "list", data: errors } : null,
    input_file_id: request.input_file_id,
    completion_window: "24h",
    status,
    output_file_id: files.output,
    error_file_id: files.error,
    created_at: seconds,
    in_progress_at: status === "failed" ? null : seconds,
    expires_at: seconds + DAY_SECONDS,
    request_counts: { total: lines.length, completed: 0, failed: 0 },
    metadata: request.metadata ?? null,
  };
}

function filesOf(batch: SimulatedBatch, call: Call, api: VendorApi): NonNullable<Extras["files"]> {
  const extras = extrasOf.get(batch);
  if (extras === undefined) throw new TypeError("The batch is none of OpenAI's");
  return extras.files ??= writeFiles(batch, call, api);
}

async function writeFiles(batch: SimulatedBatch, call: Call, api: VendorApi) {
  const results = await resultsOf(batch, api, call);
  const isGood = (result: LineResult) => "status" in result && result.status < 400;
  const file = (name: string, isIn: (result: LineResult) => boolean): string | null => {
    const text = resultFile(batch, results.filter(isIn), resultLine);
    if (text === "") return null;
    return keepFile(call, {
      purpose: "batch_output",
      filename: `${batch.id}_${name}.jsonl`,
      text: batch.directives.isGone ? null : text,
    });
  };
  return { output: file("output", isGood), error: file("error", (result) => !isGood(result)) };
}

function resultLine(result: LineResult) {
  const id = `batch_req_${result.id}`;
  if (!("status" in result)) {
    const error = {
      code: `batch_${result.unrun}`,
      message: `This request was not run: the batch was ${result.unrun}.`,
    };
    return { id, custom_id: result.id, response: null, error };
  }
  const { status, body, requestId } = result;
  return { id, custom_id: result.id, response: { status_code: status, request_id: requestId, body }, error: null };
}

function invalid(message: string, param: string): SimulatedError {
  return new SimulatedError(400, message, { param });
}
