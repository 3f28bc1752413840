import { Buffer } from "node:buffer";
import * as z from "zod";
import { content as contentFormat } from "../../../conversation/codecs/content/mod.ts";
import { RPC_CODES, rpcCodeOf } from "../../../conversation/codecs/content/shared/rpc_codes.ts";
import type { Outbound } from "../call/outbound_call.ts";
import type { BatchContent, BatchProgress, BatchResult, BatchUpstream } from "../contract/batch_upstream.ts";
import { BATCH_CALL, ignoreMissing, nullIfMissing, openContent } from "../shared/batch_exchange.ts";
import { geminiPath } from "../shared/model_paths.ts";
import { readResultLine } from "../shared/result_line.ts";

/** The limits of one batch with a file, which has at most 2 GB. Source: Gemini API reference, "Batch API". */
const LIMITS = { lines: 50_000, bytes: 2_000_000_000 };
const MEDIA_TYPE = "application/jsonl";
const PAGE_SIZE = 100;
const MAX_PAGES = 50;
const UPLOAD_ADDRESS = "x-goog-upload-url";

const text = z.string().nullish().catch(null);
const Output = z.object({ responsesFile: text }).nullish().catch(null);
const Operation = z.object({
  name: z.string().regex(/^batches\/[\w-]{1,128}$/),
  metadata: z.object({ displayName: text, state: text, output: Output }).nullish().catch(null),
  response: z.object({ responsesFile: text, output: Output }).nullish().catch(null),
  error: z.object({ code: z.int().nullish(), message: text }).nullish().catch(null),
});
const Page = z.object({
  operations: z.array(Operation).nullish(),
  nextPageToken: text,
});
const Uploaded = z.object({ file: z.object({ name: z.string().regex(/^files\/[\w-]{1,128}$/) }) });
const Result = z.object({
  key: z.string(),
  error: z.object({ code: z.int().nullish(), message: text }).nullish(),
});

/** Where the parts of a line of results are. */
const RESULT_NAMES = { reply: ["response"], facts: new Set(["key", "error"]) };

/** The states of a batch that has ended, without their prefix. */
const ENDED: ReadonlySet<string> = new Set([
  "SUCCEEDED",
  "PARTIALLY_SUCCEEDED",
  "FAILED",
  "CANCELLED",
  "EXPIRED",
]);

/** Of a whole batch. */
const TEMPORARY_CODES: ReadonlySet<number> = new Set([RPC_CODES.RESOURCE_EXHAUSTED, RPC_CODES.UNAVAILABLE]);

/** The HTTP statuses of errors of lines. Source: google.rpc.Code. Any other error is `INTERNAL`. */
const HTTP_STATUSES = {
  CANCELLED: 499,
  INVALID_ARGUMENT: 400,
  DEADLINE_EXCEEDED: 504,
  NOT_FOUND: 404,
  PERMISSION_DENIED: 403,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  UNAUTHENTICATED: 401,
} as const satisfies Partial<Record<keyof typeof RPC_CODES, number>>;

/** The HTTP status and the name of a code. */
const CODES: Readonly<Record<number, readonly [status: number, name: string]>> = Object.fromEntries(
  Object.entries(HTTP_STATUSES).map(([name, status]) => [rpcCodeOf(name), [status, name]]),
);

/** Batches of the Gemini API, with files. Source: Gemini API reference, "Batch API" and "Files". */
export function googleBatches(outbound: Outbound): BatchUpstream {
  const { readError } = contentFormat.upstream;
  const options = { ...BATCH_CALL, readError };
  return {
    limits: LIMITS,
    writeLine: (id, { body }) =>
      new Uint8Array(Buffer.concat([
        Buffer.from(`{"key":${JSON.stringify(id)},"request":`),
        body,
        Buffer.from("}"),
      ])),
    upload: (content, signal) => upload(content, signal),
    async create({ mark, path: linePath, model, file }, signal) {
      const body = { batch: { displayName: mark, inputConfig: { fileName: file } } };
      const path = geminiPath(
        model,
        linePath.endsWith(":embedContent") ? "asyncBatchEmbedContent" : "batchGenerateContent",
      );
      const extras = { ...options, callerSignal: () => signal };
      return (await outbound.json("POST", path, body, (reply) => Operation.parse(reply), extras)).name;
    },
    async find({ mark }) {
      let token = "";
      for (let page = 0; page < MAX_PAGES; page++) {
        const path = `/v1beta/batches?pageSize=${PAGE_SIZE}${token && `&pageToken=${encodeURIComponent(token)}`}`;
        const found = await outbound.json("GET", path, null, (reply) => Page.parse(reply), options);
        const own = found.operations?.find(({ metadata }) => metadata?.displayName === mark);
        if (own !== undefined) return { id: own.name };
        if (!found.nextPageToken) return "absent";
        token = found.nextPageToken;
      }
      return "unclear";
    },
    async read(id) {
      const path = `/v1beta/${id}`;
      const found = await nullIfMissing(() =>
        outbound.json("GET", path, null, (reply) => Operation.parse(reply), options)
      );
      return found === null ? { state: "gone" } : progressOf(found, outbound);
    },
    async cancel(id) {
      await ignoreMissing(() => outbound.json("POST", `/v1beta/${id}:cancel`, {}, () => true, options));
    },
    results: (file, from) =>
      openContent({ outbound, path: `/download/v1beta/${file}:download?alt=media`, from, readError }),
    async readResult(line): Promise<BatchResult | null> {
      const { around, memberAt } = await readResultLine(line, RESULT_NAMES);
      const whole = Result.safeParse(around);
      if (!whole.success) return null;
      const { key: id, error } = whole.data;
      if (error?.code === RPC_CODES.CANCELLED) return { id, unrun: "cancelled" };
      const body = error ? errorBody(error) : memberAt(RESULT_NAMES.reply);
      return body === null
        ? null
        : { id, status: error ? CODES[error.code ?? RPC_CODES.INTERNAL]?.[0] ?? 500 : 200, body };
    },
    async remove(id, files) {
      for (const name of [id, ...files]) {
        await ignoreMissing(() => outbound.json("DELETE", `/v1beta/${name}`, null, () => true, options));
      }
    },
  };

  /** Uploads a file in two steps, and returns its name. */
  async function upload(content: BatchContent, signal: AbortSignal): Promise<string> {
    const callerSignal = () => signal;
    const body = { file: { displayName: "batch" } };
    let address: string | null = null;
    await outbound.json("POST", "/upload/v1beta/files", body, () => true, {
      ...options,
      callerSignal,
      headers: {
        "x-goog-upload-protocol": "resumable",
        "x-goog-upload-command": "start",
        "x-goog-upload-header-content-length": String(content.lengthBytes),
        "x-goog-upload-header-content-type": MEDIA_TYPE,
      },
      onResponse: (response) => void (address = response.header(UPLOAD_ADDRESS)),
    });
    const path = address === null ? null : outbound.pathOf(address);
    if (path === null) throw outbound.failure("broken", "", { accepted: "no" });
    const file = { ...content, contentType: MEDIA_TYPE };
    const headers = { "x-goog-upload-offset": "0", "x-goog-upload-command": "upload, finalize" };
    const extras = { readError, callerSignal, headers };
    return (await outbound.json("POST", path, file, (reply) => Uploaded.parse(reply), extras)).file.name;
  }
}

function progressOf({ metadata, response, error }: z.output<typeof Operation>, outbound: Outbound): BatchProgress {
  const state = (metadata?.state ?? "").replace(/^(?:BATCH|JOB)_STATE_/, "");
  if (!ENDED.has(state)) return { state: "open" };
  const file = metadata?.output?.responsesFile ?? response?.responsesFile ?? response?.output?.responsesFile ?? "";
  const results = /^files\/[\w-]{1,128}$/.test(file) ? [file] : [];
  const { message } = outbound.failure("invalid", error?.message ?? "");
  const code = CODES[error?.code ?? 0]?.[1] ?? "";
  return {
    state: "ended",
    failure: state === "FAILED" && results.length === 0
      ? { code, message, isTemporary: TEMPORARY_CODES.has(error?.code ?? 0) }
      : null,
    results,
  };
}

/** A status of `google.rpc` as the body of a refused request. */
function errorBody({ code, message }: { code?: number | null | undefined; message?: string | null | undefined }) {
  const [status, name] = CODES[code ?? RPC_CODES.INTERNAL] ?? [500, "INTERNAL"];
  return new Uint8Array(Buffer.from(JSON.stringify({ error: { code: status, message, status: name } })));
}
