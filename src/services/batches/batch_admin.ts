import { type Hold, readHold } from "../../money/billing/hold.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { FileStore } from "../../platform/files/files.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import type { Store } from "../../platform/store/store.ts";
import { readFileRecord } from "../stored_files/records.ts";
import { type OpenedContent, StoredFiles } from "../stored_files/stored_files.ts";
import { anyStoredBatchId, type BatchRecord, type BatchStatus } from "./records/batch.ts";
import { type BatchScan, readBatch, scanBatches } from "./records/records.ts";

/** A batch with its hold. */
export interface BatchWithHold {
  readonly batch: BatchRecord;
  /** Null if nothing was held. */
  readonly hold: Hold | null;
}

/** A filter of the batches of all accounts; null fields match all. */
export interface BatchFilter {
  readonly account: string | null;
  readonly status: BatchStatus | null;
  /** Time of creation in Unix milliseconds; `from` is inclusive, `to` exclusive. */
  readonly from: number;
  readonly to: number;
}

/** The position and the size of a page. */
export interface BatchPageRequest {
  /** The id to continue after; null for the first page. */
  readonly after: string | null;
  readonly limit: number;
  /** Newest first. */
  readonly reverse: boolean;
}

/** One page of the batches of all accounts. */
export interface BatchPage {
  readonly batches: readonly BatchWithHold[];
  /** The id for the next page; null on the last page. */
  readonly next: string | null;
}

/** The files of results of a batch. */
export type BatchFile = "output" | "errors";

/** Reads the batches of all accounts, for operators. */
export interface BatchAdmin {
  /** @throws {GatewayError} `not_found`. */
  read(id: string): Promise<BatchWithHold>;
  /** Lists batches in order of creation. A page with a status may be short, or empty, even if it has a `next`. */
  list(filter: BatchFilter, page: BatchPageRequest): Promise<BatchPage>;
  /** Opens a file of results. @throws {GatewayError} `not_found` if the batch has none. */
  open(id: string, file: BatchFile): Promise<OpenedContent>;
}

/** The records of one read, and the maximum of a page. */
const READ_AT_ONCE = 200;
const MAX_READ = 5_000;

/** Opens the batches of a store. */
export function openBatchAdmin(
  { store, files, log }: { readonly store: Store; readonly files: FileStore; readonly log: Log },
): BatchAdmin {
  const stored = new StoredFiles({ store, files, log, retentionMs: () => null });
  const withHold = async (batch: BatchRecord) => ({ batch, hold: await readHold(store, batch.id) });
  const recordOf = async (id: string): Promise<BatchRecord> => {
    const ownId = anyStoredBatchId(id);
    const entry = ownId === null ? null : await readBatch(store, ownId);
    if (entry === null) throw new GatewayError("not_found", "Cannot find the batch: no such batch");
    return entry.value;
  };
  return {
    read: async (id) => await withHold(await recordOf(id)),
    async list(filter, page) {
      const { picked, next } = await pick(store, filter, page);
      return { batches: await Promise.all(picked.map(withHold)), next };
    },
    async open(id, file) {
      const { outputFileId, errorFileId } = await recordOf(id);
      const entry = await readFileRecord(store, (file === "output" ? outputFileId : errorFileId) ?? "");
      if (entry !== null) return await stored.open(entry.value);
      throw new GatewayError("not_found", "Cannot find the file: the batch has none, or it has expired");
    },
  };
}

async function pick(
  store: Store,
  { account, status, from, to }: BatchFilter,
  { after, limit, reverse }: BatchPageRequest,
): Promise<{ readonly picked: readonly BatchRecord[]; readonly next: string | null }> {
  const picked: BatchRecord[] = [];
  let scan: BatchScan = {
    account,
    after: after ?? (reverse ? { before: to } : { from }),
    limit: READ_AT_ONCE,
    reverse,
  };
  for (let read = 0; read < MAX_READ; read += READ_AT_ONCE) {
    const found = await scanBatches(store, scan);
    for (const batch of found) {
      const { createdAt, id } = batch;
      if (reverse ? createdAt < from : createdAt >= to) return { picked, next: null };
      if (createdAt < from || createdAt >= to || (status !== null && batch.status !== status)) continue;
      if (picked.length === limit) return { picked, next: picked[limit - 1]?.id ?? null };
      picked.push(batch);
      scan = { ...scan, after: id };
    }
    const last = found[found.length - 1];
    if (last === undefined || found.length < READ_AT_ONCE) return { picked, next: null };
    scan = { ...scan, after: last.id };
  }
  return { picked, next: typeof scan.after === "string" ? scan.after : null };
}
