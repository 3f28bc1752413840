import type { Usage } from "../../../conversation/neutral/usage.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../../platform/endpoints/callers.ts";
import type { Endpoint } from "../../../platform/endpoints/endpoint.ts";
import type { ProtocolName } from "../../../platform/endpoints/protocols.ts";
import { newSortableId } from "../../../platform/lib/basics/ids.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import type { StoreTime } from "../../../platform/store/store_time.ts";

/** The endpoints whose requests can be lines of a batch, by their paths. */
export const LINE_ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map(
  [
    ENDPOINTS.createChatCompletion,
    ENDPOINTS.createResponse,
    ENDPOINTS.createEmbeddings,
    ENDPOINTS.createModeration,
    ENDPOINTS.createImages,
    ENDPOINTS.editImages,
    ENDPOINTS.createVideo,
  ].map((row) => [row.path, row]),
);

/** The endpoints of the lines of every protocol, by their paths. */
export const ALL_LINE_ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map([
  ...LINE_ENDPOINTS,
  ...[ENDPOINTS.createMessage, ENDPOINTS.generateContent, ENDPOINTS.embedContent].map((row) =>
    [row.path, row] as const
  ),
]);

/** Whether each line of an endpoint makes a task that lasts, such as a video. */
export function hasTasks({ endpoint }: Pick<BatchRecord, "endpoint">): boolean {
  return endpoint === ENDPOINTS.createVideo.path;
}

/** The protocols whose callers create batches. Each finds its own batches only. */
export type BatchProtocol = Exclude<ProtocolName, "admin">;

/** All protocols of batches. */
export const BATCH_PROTOCOLS: readonly BatchProtocol[] = ["default", "message", "content"];

/** Limits of a batch. Source: docs/api/batches.md#limits. */
export const BATCH_LIMITS = {
  lines: 50_000,
  /** Requests in the body of a create. */
  inlineRequests: 5_000,
  /** Errors of an invalid file that are shown. */
  errors: 100,
  customIdCharacters: 512,
  /** Of a line: longer JSON takes more than a few milliseconds of the main thread, which lines have no thread for. */
  lineBytes: 2_000_000,
} as const;

/** How long the lines of a batch may wait, in milliseconds, by the name of the window. */
export const COMPLETION_WINDOWS: Readonly<Record<string, number>> = { "24h": 86_400_000 };

/**
 * The states of a batch:
 *
 *     failed (the file is invalid, or its results could not be stored until a day after its window)
 *     in_progress → finalizing → completed | expired
 *     in_progress → cancelling → cancelled
 *
 * `finalizing` and `cancelling`: no further line begins, and the output files are written.
 */
export type BatchStatus =
  | "failed"
  | "in_progress"
  | "finalizing"
  | "completed"
  | "expired"
  | "cancelling"
  | "cancelled";

/** All states. */
export const BATCH_STATUSES: readonly BatchStatus[] = [
  "in_progress",
  "finalizing",
  "cancelling",
  "completed",
  "failed",
  "cancelled",
  "expired",
];

/** The final states. */
const ENDED_BATCH_STATUSES = ["completed", "failed", "cancelled", "expired"] as const;

/** A final state. */
export type EndedBatchStatus = typeof ENDED_BATCH_STATUSES[number];

/** What is wrong with a file of lines. */
export interface LineError {
  readonly code: string;
  readonly message: string;
  /** From 1; null for the file as a whole. */
  readonly line: number | null;
  /** The field in the line; null for none. */
  readonly param: string | null;
}

/** The tokens of a batch. */
export type BatchUsage = Pick<Usage, "outputTokens" | "reasoningTokens"> & {
  /** All tokens of the prompts, those of caches included. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
};

/** No tokens. */
export const NO_BATCH_USAGE: BatchUsage = { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 };

/** A batch as it is stored. Its lines are in a separate content. */
export interface BatchRecord {
  /** `batch_` and 28 hexadecimal digits; sorts by the time of creation. */
  readonly id: string;
  readonly account: string;
  /** The key that created it; no other key can find it. */
  readonly keyId: string;
  /** The protocol of its caller, whose format its lines and results have. Absent: `default`. */
  readonly protocol?: BatchProtocol;
  /** The features that all lines ask for, as the header `anthropic-beta` names them. Absent: none. */
  readonly betas?: string;
  /** The client whose form of tasks the results have, where forms differ. Absent: that of all others. */
  readonly client?: string;
  /** The lines that have begun, if each makes a task. Absent: none. */
  readonly begun?: BegunLines;
  /** What its caller calls it. Absent: nothing. */
  readonly displayName?: string;
  /** When its caller deleted it. It is kept for the ledger until its retention ends, and no caller finds it. */
  readonly deletedAt?: number;
  /** The path of the endpoint of all lines, one of {@linkcode LINE_ENDPOINTS}. */
  readonly endpoint: string;
  /** The file of the lines; null if they were in the create. */
  readonly inputFileId: string | null;
  readonly completionWindow: string;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly callbackUrl: string | null;
  /** The lifetime of the output files in seconds; null for the default. */
  readonly outputSeconds: number | null;
  readonly status: BatchStatus;
  /** Unix milliseconds, as every `…At` here. */
  readonly createdAt: StoreTime;
  /** No line begins after it. */
  readonly expiresAt: number;
  readonly finalizingAt: number | null;
  readonly cancellingAt: number | null;
  readonly endedAt: number | null;
  readonly total: number;
  /** The lines that vendors run in batches of their own. The gateway runs the others. */
  readonly vendorLines: number;
  /** Whether the batches of vendors are cut, so that each of their lines is in one, or is settled. */
  readonly isCut: boolean;
  /** Whether all lines that the gateway runs are settled. */
  readonly isOwnDone: boolean;
  readonly completed: number;
  readonly failed: number;
  /** The failed lines that were run, by the code of their error. Absent without one. */
  readonly failures?: Readonly<Record<string, number>>;
  /** The highest cost of all lines, which was held at the create. */
  readonly estimate: Money;
  /** What the settled lines cost. */
  readonly cost: Money;
  readonly usage: BatchUsage;
  /** The model of all lines as they name it; null if they name several. In `content`: that of the create. */
  readonly model: string | null;
  /** Only of a failed batch. */
  readonly errors: readonly LineError[];
  readonly outputFileId: string | null;
  readonly errorFileId: string | null;
  /** The epoch of the job that may settle lines. A worker whose job another one has is refused. */
  readonly epoch: number;
}

/** The lines of a batch that have begun: all of the first ones. */
export interface BegunLines {
  readonly lines: number;
  /** Of these lines, as they are stored. */
  readonly bytes: number;
}

/** The task of a line that is not settled. */
export interface LineTask {
  /** The number of the line, from 1. */
  readonly number: number;
  readonly customId: string;
  readonly taskId: string;
  /** Of the request that made the task. */
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly begunAt: number;
}

/** A line that is settled. */
export interface SettledLine {
  /** From 1. */
  readonly number: number;
  readonly customId: string;
  readonly requestId: string;
  /** The HTTP status of its reply. */
  readonly status: number;
  /** The JSON body of its reply; null if it is in a separate content, as it is long. */
  readonly body: Uint8Array<ArrayBuffer> | null;
}

/** The last instant of a date. Source: ECMAScript, "Time Values and Time Range". */
const MAX_DATE_MS = 8.64e15;
const DIGITS = "[0-9a-f]{28}";
const BATCH_ID = new RegExp(`^batch_${DIGITS}$`);
const CONTENT_NAME = new RegExp(`^batch-(${DIGITS})-(?:lines|(?:vendor)?[0-9]+)\\.bin$`);

/** Creates the id of a batch. */
export function newBatchId(nowMs: number): string {
  return `batch_${newSortableId(nowMs)}`;
}

/** What the ids begin with that callers see. In the store, in logs and in the ledger, each begins with `batch_`. */
const SHOWN_PREFIXES: Readonly<Record<BatchProtocol, string>> = {
  default: "batch_",
  message: "msgbatch_",
  content: "batches/",
};

/** The id of a batch as its caller sees it. */
export function shownBatchId({ id, protocol = "default" }: Pick<BatchRecord, "id" | "protocol">): string {
  return SHOWN_PREFIXES[protocol] + batchDigitsOf(id);
}

/** The id in the store of an id that callers of a protocol see; null if it can be none. */
export function storedBatchId(shown: string, protocol: BatchProtocol): string | null {
  const prefix = SHOWN_PREFIXES[protocol];
  const id = `batch_${shown.slice(prefix.length)}`;
  return shown.startsWith(prefix) && BATCH_ID.test(id) ? id : null;
}

/** The id in the store of an id that callers of any protocol see; null if it can be none. */
export function anyStoredBatchId(shown: string): string | null {
  for (const protocol of BATCH_PROTOCOLS) {
    const id = storedBatchId(shown, protocol);
    if (id !== null) return id;
  }
  return null;
}

/** What sorts before the ids of all batches since an instant, and after those before; null for any time that is far. */
export function batchIdsFrom(atMs: number): string | null {
  return atMs <= 0 || atMs > MAX_DATE_MS ? null : `batch_${atMs.toString(16).padStart(12, "0")}`;
}

/** The digits of an id in the store, which stand in all names that are made of it. */
export function batchDigitsOf(batchId: string): string {
  return batchId.slice("batch_".length);
}

/** The name of the content with the lines of a batch. */
export function linesNameOf(batchId: string): string {
  return `batch-${batchDigitsOf(batchId)}-lines.bin`;
}

/** The name of the content with the long reply to a line. */
export function replyNameOf(batchId: string, line: number): string {
  return `batch-${batchDigitsOf(batchId)}-${line}.bin`;
}

/** The batch that a content belongs to; null for other contents. */
export function batchIdIn(name: string): string | null {
  const [, digits] = CONTENT_NAME.exec(name) ?? [];
  return digits === undefined ? null : `batch_${digits}`;
}

/** Whether a batch has ended. */
export function isEnded({ status }: Pick<BatchRecord, "status">): boolean {
  return ENDED_BATCH_STATUSES.some((each) => each === status);
}
