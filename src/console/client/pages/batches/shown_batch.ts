import { apiAddress, read } from "../../api.ts";
import type { BatchFacts, ListAnswer, ListedBatch, OwnBatch } from "../../shapes.ts";

/** Who runs the lines of a batch. */
export type RunBy = BatchFacts["mode"];

/** A batch as both the operator's and the caller's API have it. */
export interface ShownBatch extends BatchFacts {
  /** Null on the page of its caller. */
  readonly account: string | null;
  readonly errors: readonly { readonly code: string; readonly line: number | null; readonly message?: string }[];
  /** Null on the page of its caller. */
  readonly hold: ListedBatch["hold"];
  /** The address of the results; null without them. */
  readonly output: string | null;
  /** The address of the failed lines; null without them. */
  readonly failed: string | null;
}

/** Whether the lines of a batch may still run, so that it can be cancelled. */
export function isRunning({ status }: Pick<ShownBatch, "status">): boolean {
  return status === "in_progress";
}

/** Whether nothing of a batch changes any more. */
export function hasBatchEnded({ status }: Pick<ShownBatch, "status">): boolean {
  return ["completed", "failed", "cancelled", "expired"].includes(status);
}

/** Where batches are read and changed: the API of operators, or that of the caller. */
export interface BatchSource {
  readonly path: string;
  list(query: BatchQuery, signal: AbortSignal): Promise<ListAnswer<ShownBatch>>;
  read(id: string, signal: AbortSignal): Promise<ShownBatch>;
}

/** A page of the list. */
export interface BatchQuery {
  /** Empty for all. The caller's API has no filter. */
  readonly status: string;
  readonly after: string;
  readonly limit: number;
}

const OPERATORS = "/admin/v1/batches";
const CALLERS = "/v1/key/batches";

/** The batches of all accounts. */
export const ALL_BATCHES: BatchSource = {
  path: OPERATORS,
  async list(query, signal) {
    const { data, next } = await read<ListAnswer<ListedBatch>>(OPERATORS, { ...query }, signal);
    return { data: data.map(shownOf), next };
  },
  read: async (id, signal) => shownOf(await read<ListedBatch>(`${OPERATORS}/${encodeURIComponent(id)}`, {}, signal)),
};

/** The batches of the caller's API key, of whatever protocol. */
export const OWN_BATCHES: BatchSource = {
  path: CALLERS,
  async list({ after, limit }, signal) {
    const { data, next } = await read<ListAnswer<OwnBatch>>(CALLERS, { after, limit }, signal);
    return { data: data.map(shownOwn), next };
  },
  read: async (id, signal) => shownOwn(await read<OwnBatch>(`${CALLERS}/${encodeURIComponent(id)}`, {}, signal)),
};

function shownOf(batch: ListedBatch): ShownBatch {
  const file = (name: string) => apiAddress(`${OPERATORS}/${batch.id}/${name}`);
  return {
    ...batch,
    output: batch.has_output ? file("output") : null,
    failed: batch.has_errors ? file("errors") : null,
  };
}

function shownOwn(batch: OwnBatch): ShownBatch {
  const { output_file_id: output, error_file_id: failed } = batch;
  const file = (fileId: string | null) => fileId === null ? null : apiAddress(`/v1/files/${fileId}/content`);
  return { ...batch, account: null, hold: null, output: file(output), failed: file(failed) };
}
