import { Buffer } from "node:buffer";
import { RPC_CODES } from "../../conversation/codecs/content/shared/rpc_codes.ts";
import { type BatchRecord, isEnded, shownBatchId } from "../../services/batches/records/batch.ts";
import { linesOf } from "../../services/batches/lines/input_lines.ts";
import { hasResults, openResults } from "../../services/batches/results.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { iteratorStream } from "../../platform/lib/streams/output_stream.ts";
import { shownFileId } from "../../services/stored_files/stored_file.ts";
import type { StoredFiles } from "../../services/stored_files/stored_files.ts";
import { writeServiceBatch } from "../service_batch.ts";

const TYPES = "type.googleapis.com/google.ai.generativelanguage.v1beta.";

/** `BATCH_STATE_…`. A batch that runs is pending until a line is settled. */
const STATES: Readonly<Record<BatchRecord["status"], string>> = {
  in_progress: "RUNNING",
  finalizing: "RUNNING",
  cancelling: "RUNNING",
  completed: "SUCCEEDED",
  failed: "FAILED",
  cancelled: "CANCELLED",
  expired: "EXPIRED",
};

/** Why a batch has no response. */
const ERRORS: Readonly<Partial<Record<BatchRecord["status"], object>>> = {
  cancelled: { code: RPC_CODES.CANCELLED, message: "The batch was cancelled" },
  failed: { code: RPC_CODES.INTERNAL, message: "The results of the batch could not be stored" },
  expired: { code: RPC_CODES.DEADLINE_EXCEEDED, message: "The batch expired before all requests were run" },
};

/** A place that is filled with the lines of the results. No text within JSON has its quotes. */
const INLINED = '"inlinedResponses":[]';
const NO_RESPONSES = { inlinedResponses: { inlinedResponses: [] } };

/**
 * A batch as Google's clients read it: an operation.
 *
 * @param output The results; null for none.
 */
export function writeContentBatch(
  batch: BatchRecord,
  output: object | null = outputFileOf(batch),
): Record<string, unknown> {
  const { status, total, completed, failed, model, displayName } = batch;
  const hasEnded = isEnded(batch);
  const settled = completed + failed;
  const state = status === "in_progress" && settled === 0 ? "PENDING" : STATES[status];
  const updatedAt = batch.endedAt ?? batch.cancellingAt ?? batch.finalizingAt ?? batch.createdAt;
  const kind = batch.endpoint === ENDPOINTS.embedContent.path ? "EmbedContentBatch" : "GenerateContentBatch";
  const error = ERRORS[status];
  return {
    name: shownBatchId(batch),
    metadata: {
      "@type": TYPES + kind,
      model: `models/${model}`,
      displayName,
      state: `BATCH_STATE_${state}`,
      createTime: timeOf(batch.createdAt),
      updateTime: timeOf(updatedAt),
      endTime: batch.endedAt === null ? undefined : timeOf(batch.endedAt),
      batchStats: {
        requestCount: String(total),
        successfulRequestCount: String(completed),
        failedRequestCount: String(failed),
        pendingRequestCount: String(hasEnded ? 0 : total - settled),
      },
      output: output ?? undefined,
      serviceBatch: writeServiceBatch(batch),
    },
    done: hasEnded,
    ...error !== undefined && { error },
    ...status === "completed" && { response: { "@type": `${TYPES}${kind}Output`, ...output } },
  };
}

/** The file of the results; null if the requests were in the create, or there is none. */
function outputFileOf({ inputFileId, outputFileId }: BatchRecord): object | null {
  return inputFileId === null || outputFileId === null ? null : { responsesFile: shownFileId(outputFileId, "content") };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** The response with a batch. The results of requests that were in the create are in it, as long as they are stored. */
export async function contentBatchResponse(batch: BatchRecord, stored: StoredFiles): Promise<Response> {
  if (batch.inputFileId !== null || !await hasResults(batch, stored)) return Response.json(writeContentBatch(batch));
  const text = JSON.stringify(writeContentBatch(batch, NO_RESPONSES));
  return new Response(iteratorStream(filled(text.split(INLINED), batch, stored)), {
    headers: { "content-type": "application/json" },
  });
}

/** A text with the results between its pieces. They are read once for each place, and never in memory as a whole. */
async function* filled(
  [first = "", ...others]: readonly string[],
  batch: BatchRecord,
  stored: StoredFiles,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield bytesOf(first);
  for (const piece of others) {
    yield bytesOf(INLINED.slice(0, -1));
    const { stream } = await openResults(batch, stored);
    let isFirst = true;
    for await (const line of linesOf(stream, Infinity)) {
      if (!isFirst) yield bytesOf(",");
      isFirst = false;
      yield line;
    }
    yield bytesOf(`]${piece}`);
  }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text));
}
