import { Buffer } from "node:buffer";
import { closeHold, readHold } from "../../money/billing/hold.ts";
import { mergeCommits } from "../../money/billing/accounts/records.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { errorName } from "../../platform/lib/basics/log.ts";
import type { FileStore } from "../../platform/files/files.ts";
import type { Commit, CommitResult, Job, Store } from "../../platform/store/store.ts";
import type { WrittenContent } from "../stored_files/stored_files.ts";
import { writtenVersion } from "../../platform/store/written_version.ts";
import {
  batchDigitsOf,
  type BatchRecord,
  type EndedBatchStatus,
  type LineError,
  linesNameOf,
  replyNameOf,
  type SettledLine,
} from "./records/batch.ts";
import type { BatchParts } from "./settling/batch_parts.ts";
import { addBatchEvent } from "./events.ts";
import { oneLine, storedLines } from "./lines/input_lines.ts";
import type { BatchEnd, NotRun, ResultFormat } from "./lines/line_format.ts";
import { lineFormatOf } from "./lines/line_formats.ts";
import { type BatchEntry, changeBatch, endBatch, repliesOf, settledLines } from "./records/records.ts";
import { isSuccess } from "./lines/line_runner.ts";

const LINE_END = Buffer.from("\n");

/** Why a line was not run, as the error file says. Source: OpenAI API reference, "Batch". */
const NOT_RUN: Readonly<Record<NotRun, { readonly code: string; readonly message: string }>> = {
  cancelled: { code: "batch_cancelled", message: "The batch was cancelled before this request was run" },
  expired: { code: "batch_expired", message: "The batch expired before this request was run" },
};

/**
 * Writes the output files of a batch whose lines are settled or will not be run, and ends it in one commit: its status,
 * the rest of its hold, its files and its webhooks.
 *
 * @returns The result; null if the batch changed meanwhile and nothing was written.
 */
export async function finishBatch(
  parts: BatchParts,
  { entry, end, job }: { readonly entry: BatchEntry; readonly end: BatchEnd; readonly job: Job },
): Promise<CommitResult | null> {
  const begun = await beginFinish(parts.store, entry);
  if (begun === null) return null;
  const contents = await writeFiles(parts, begun.value, end);
  return await endWith(parts, begun, { status: end, job, contents });
}

/** How long a batch whose run fails each time is tried after its window. */
const GIVE_UP_MS = 86_400_000;
/** A process that was off for days tries, too: so often, which takes minutes. */
const MIN_ATTEMPTS = 10;

/** Whether a run that fails again is given up, so that no money is held forever. */
export function isHopeless({ expiresAt }: BatchRecord, { attempt }: Pick<Job, "attempt">, now: number): boolean {
  return now >= expiresAt + GIVE_UP_MS && attempt >= MIN_ATTEMPTS;
}

/**
 * Ends a batch that cannot be finished, for example because there is no room for its files, as failed. What its lines
 * cost stays charged, and the rest of its hold is released.
 *
 * @returns As {@linkcode finishBatch}.
 */
export async function abandonBatch(
  parts: BatchParts,
  { entry, job, error }: { readonly entry: BatchEntry; readonly job: Job; readonly error: unknown },
): Promise<CommitResult | null> {
  const { id: ref, account: accountId } = entry.value;
  parts.log.error("batch_abandoned", { ref, accountId, reason: errorName(error) });
  const [code, why] = error instanceof GatewayError
    ? [error.code, error.message]
    : ["internal_error", "the gateway has failed"];
  const errors = [{ code, message: `The results could not be stored: ${why}`, line: null, param: null }];
  return await endWith(parts, entry, { status: "failed", job, contents: [null, null], errors });
}

/** How a batch ends. */
interface Ending {
  readonly status: EndedBatchStatus;
  readonly job: Job;
  /** The output file and the error file. */
  readonly contents: readonly [WrittenContent | null, WrittenContent | null];
  /** Default: none. */
  readonly errors?: readonly LineError[];
}

async function endWith(
  parts: BatchParts,
  entry: BatchEntry,
  { status, job, contents, errors = [] }: Ending,
): Promise<CommitResult | null> {
  const { store, stored, meter, log } = parts;
  const { value: batch } = entry;
  const [output, failures] = contents;
  const at = store.now();
  const owner = { accountId: batch.account, keyId: batch.keyId };
  const files = contents.map((content, index) =>
    content && stored.record(content, {
      filename: `${batch.id}_${index === 0 ? "output" : "error"}.jsonl`,
      purpose: "batch_output",
      mediaType: "application/jsonl",
      lifetimeSeconds: batch.outputSeconds,
    }, owner)
  );
  const change = {
    status,
    endedAt: at,
    errors,
    outputFileId: output?.id ?? null,
    errorFileId: failures?.id ?? null,
  };
  const hold = await readHold(store, batch.id);
  const detail = { key: batch.keyId, batch: batch.id, status };
  let commit: Commit = hold?.state === "open" ? closeHold({}, hold, at, detail) : {};
  for (const file of files) if (file !== null) commit = mergeCommits(commit, file.commit);
  commit = endBatch(mergeCommits(commit, { completeJobs: [job] }), entry, change);
  const ended: BatchRecord = { ...batch, ...change };
  commit = await addBatchEvent(commit, ended, { store, status, at, data: parts.write(ended) });
  const result = await store.commit(null, commit);
  meter.invalidate(batch.account);
  if (!result.ok) {
    for (const content of contents) if (content !== null) await stored.discard(content.id);
    return result.why === "fenced" ? result : null;
  }
  if (status !== "completed") parts.countLines(status, batch.total - batch.completed - batch.failed);
  log.info("batch_ended", {
    ref: batch.id,
    accountId: batch.account,
    state: status,
    durationMs: at - batch.createdAt,
  });
  return result;
}

/** Notes that the files are written, so that the batch cannot be cancelled any more. */
async function beginFinish(store: Store, entry: BatchEntry): Promise<BatchEntry | null> {
  if (entry.value.status !== "in_progress") return entry;
  const change = { status: "finalizing", finalizingAt: store.now() } as const;
  const commit = changeBatch({}, entry, change);
  const version = writtenVersion(commit, await store.commit(null, commit), entry.key);
  return version === null ? null : { ...entry, value: { ...entry.value, ...change }, version };
}

/** Writes the output file and the error file. */
async function writeFiles(
  parts: BatchParts,
  batch: BatchRecord,
  end: BatchEnd,
): Promise<[WrittenContent | null, WrittenContent | null]> {
  if (batch.deletedAt !== undefined) return [null, null]; // its caller wants none
  const { results } = lineFormatOf(batch);
  if (results !== null) return [await written(parts, resultLines(parts, batch, { end, results })), null];
  return [
    await written(parts, outputLines(parts, batch)),
    await written(parts, errorLines(parts, batch, end)),
  ];
}

/** Writes a file of lines; null without lines. Results have no maximum: the replies are paid, whatever their size. */
async function written(
  { stored }: BatchParts,
  lines: AsyncGenerator<Uint8Array>,
): Promise<WrittenContent | null> {
  const first = await lines.next();
  if (first.done) return null;
  const all = async function* () {
    yield first.value;
    yield* lines;
  };
  return await stored.write(all(), Infinity);
}

async function* outputLines({ store, files }: BatchParts, batch: BatchRecord): AsyncGenerator<Uint8Array> {
  for await (const line of repliesOf(store, batch.id)) {
    if (isSuccess(line)) yield lineOf(batch, line, await bodyOf(files, batch, line));
  }
}

async function* errorLines(
  { store, files }: BatchParts,
  batch: BatchRecord,
  end: BatchEnd,
): AsyncGenerator<Uint8Array> {
  for await (const line of repliesOf(store, batch.id)) {
    if (!isSuccess(line)) yield lineOf(batch, line, await bodyOf(files, batch, line));
  }
  if (end === "completed") return;
  const settled = await settledLines(store, batch);
  const content = await files.find(linesNameOf(batch.id));
  if (content === null) return;
  for await (const { number, customId } of storedLines(content.read())) {
    if (settled.has(number)) continue;
    const line = { id: lineIdOf(batch, number), custom_id: customId, response: null, error: NOT_RUN[end] };
    yield Buffer.from(`${JSON.stringify(line)}\n`);
  }
}

/** All lines in the order of the input. */
async function* resultLines(
  { store, files }: BatchParts,
  batch: BatchRecord,
  { end, results }: { readonly end: BatchEnd; readonly results: ResultFormat },
): AsyncGenerator<Uint8Array> {
  const content = await files.find(linesNameOf(batch.id));
  if (content === null) throw new Error("The lines of the batch are missing");
  const replies = repliesOf(store, batch.id);
  let next = await replies.next();
  for await (const { number, customId } of storedLines(content.read())) {
    if (!next.done && next.value.number === number) {
      yield results.answered(next.value, await bodyOf(files, batch, next.value));
      next = await replies.next();
    } else if (end !== "completed") yield results.notRun(customId, end);
    else continue;
    yield LINE_END;
  }
}

async function bodyOf(
  files: FileStore,
  batch: BatchRecord,
  { number, body }: SettledLine,
): Promise<Uint8Array<ArrayBuffer>> {
  if (body !== null) return body;
  const content = await files.find(replyNameOf(batch.id, number));
  if (content === null) throw new Error("The reply to a line is missing");
  return new Uint8Array(await new Response(content.read()).arrayBuffer());
}

function lineIdOf({ id }: BatchRecord, number: number): string {
  return `batch_req_${batchDigitsOf(id)}_${number}`;
}

/** Source: OpenAI API reference, "Batch output". The body stays as the endpoint wrote it. */
function lineOf(batch: BatchRecord, line: SettledLine, body: Uint8Array<ArrayBuffer>): Uint8Array {
  const { number, customId, requestId, status } = line;
  const head = `{"id":${JSON.stringify(lineIdOf(batch, number))},"custom_id":${JSON.stringify(customId)},` +
    `"response":{"status_code":${status},"request_id":${JSON.stringify(requestId)},"body":`;
  return Buffer.concat([Buffer.from(head), oneLine(body), Buffer.from('},"error":null}\n')]);
}
