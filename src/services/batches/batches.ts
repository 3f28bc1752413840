import { type Credential, readCredential } from "../../money/billing/keys/key_ring.ts";
import { addHold } from "../../money/billing/hold.ts";
import { type ProbedAdmission, probedAdmission } from "../calls/dry_run.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Commit } from "../../platform/store/store.ts";
import {
  type BatchProtocol,
  type BatchRecord,
  isEnded,
  type LineError,
  linesNameOf,
  newBatchId,
  storedBatchId,
} from "./records/batch.ts";
import type { BatchParts } from "./settling/batch_parts.ts";
import { admitBatch, insufficientForBatch } from "./admit.ts";
import { refuseCallback } from "./callback.ts";
import { addBatchEvent } from "./events.ts";
import { type NewBatch, newRecordOf, refuseLongNames } from "./new_batch.ts";
import type { TakenRoom } from "../stored_files/account_room.ts";
import { InputReader, InvalidInputError, type ReadInput } from "./read_input.ts";
import { lineFormatOf } from "./lines/line_formats.ts";
import {
  addBatch,
  type BatchEntry,
  changeBatch,
  hideBatch,
  ownBatchIds,
  type OwnBatchPage,
  readBatch,
  readBatches,
} from "./records/records.ts";
import type { BatchRuns } from "./run.ts";

/** What a batch would cost. */
export interface BatchTrial extends ReadInput {
  readonly admission: ProbedAdmission;
}

/** A batch whose lines are to be stored. */
interface BatchToStore {
  readonly batch: NewBatch;
  readonly credential: Credential;
  readonly taken: TakenRoom;
}

/** A cancellation that meets so many changes is refused. */
const MAX_RACES = 8;

/** Batches of callers: each belongs to the key that created it, and other keys get 404. */
export class Batches {
  constructor(readonly parts: BatchParts, private readonly runs: BatchRuns) {}

  /**
   * Creates a batch. Its lines are checked while they are read, and its highest cost is held. Nothing is held for
   * invalid lines: the batch is `failed` then, with the first errors. Protocols without such batches get the error.
   *
   * @throws {GatewayError} `not_found` without the file; `invalid_request`, also if the account has no room for the
   * lines; `insufficient_credits` if the balance or a budget does not cover the highest cost; `rate_limited`.
   */
  async create(batch: NewBatch, credential: Credential): Promise<BatchRecord> {
    refuseLongNames(batch);
    await refuseCallback(batch.callbackUrl, this.parts);
    return await this.parts.readers.run(credential.accountId, () => this.#create(batch, credential));
  }

  async #create(batch: NewBatch, credential: Credential): Promise<BatchRecord> {
    const { chunks, bytes } = await this.#inputOf(batch, credential);
    const { inputFields: { list, file } } = lineFormatOf(batch);
    const taken = await this.parts.room.take(credential.accountId, bytes, batch.inputFileId === null ? list : file);
    try {
      return await this.#createOf(chunks, { batch, credential, taken });
    } finally {
      taken.end(0);
    }
  }

  async #createOf(
    chunks: AsyncIterable<Uint8Array>,
    { batch, credential, taken }: BatchToStore,
  ): Promise<BatchRecord> {
    const { store, files, stored } = this.parts;
    const id = newBatchId(store.now());
    const reader = this.#readerOf(batch, credential);
    const name = linesNameOf(id);
    let bytes: number;
    try {
      bytes = await stored.writeAs(name, reader.stored(chunks), Infinity);
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      if ((batch.protocol ?? "default") !== "default") throw error.refusalOf(batch, lineFormatOf(batch));
      return await this.#addFailed(id, batch, credential, error.errors);
    }
    try {
      const facts = { id, owner: credential, createdAt: store.now(), input: reader.result };
      const record = await this.#add(newRecordOf(batch, facts), credential, bytes);
      taken.end(bytes);
      return record;
    } catch (error) {
      // A commit with an unknown result may have been made. Otherwise the next start removes what stays here.
      const isRefused = error instanceof GatewayError && error.code !== "storage_unavailable";
      if (isRefused) await files.remove(name).catch(() => {});
      throw error;
    }
  }

  /**
   * Checks a create without one: nothing is stored, held or taken.
   *
   * @throws {GatewayError} As {@linkcode Batches.create}, except for a refusal by the balance or a limit.
   * `invalid_request` with the first error of the lines.
   */
  async dryRun(batch: NewBatch, credential: Credential): Promise<BatchTrial> {
    refuseLongNames(batch);
    await refuseCallback(batch.callbackUrl, this.parts);
    const reader = this.#readerOf(batch, credential);
    await this.parts.readers.run(credential.accountId, async () => {
      const { chunks } = await this.#inputOf(batch, credential);
      try {
        for await (const _line of reader.stored(chunks)); // only checked
      } catch (error) {
        if (!(error instanceof InvalidInputError)) throw error;
        throw error.refusalOf(batch, lineFormatOf(batch));
      }
    });
    const { estimate } = reader.result;
    const admission = await probedAdmission(() =>
      this.parts.meter.probe(credential, estimate === 0n ? null : estimate)
    );
    return { ...reader.result, admission };
  }

  /**
   * Reads a batch of a key.
   *
   * @param id As callers of the protocol see it.
   * @throws {GatewayError} `not_found`, also for a batch of another protocol.
   */
  async read(keyId: string, id: string, protocol: BatchProtocol = "default"): Promise<BatchRecord> {
    return (await this.#entry(keyId, id, protocol)).value;
  }

  /**
   * Lists a key's batches of a protocol, newest first, and whether there are more.
   *
   * @param page With ids as callers of the protocol see them. An id that can be none gives the first page.
   */
  async list(
    keyId: string,
    { after, before = null, limit }: OwnBatchPage,
    protocol: BatchProtocol = "default",
  ): Promise<{ readonly batches: readonly BatchRecord[]; readonly hasMore: boolean }> {
    const storedOf = (shown: string | null) => shown === null ? null : storedBatchId(shown, protocol) ?? shown;
    const page = { after: storedOf(after), before: storedOf(before), limit: limit + 1 };
    const ids = await ownBatchIds(this.parts.store, { keyId, protocol }, page);
    const shown = before === null ? ids.slice(0, limit) : ids.slice(-limit);
    return { batches: await readBatches(this.parts.store, shown), hasMore: ids.length > limit };
  }

  /**
   * Cancels a batch: no further line begins, and those that are answered stay.
   *
   * @throws {GatewayError} `not_found`; `conflict` if it has ended or its files are written.
   */
  async cancel(keyId: string, id: string, protocol: BatchProtocol = "default"): Promise<BatchRecord> {
    const { store } = this.parts;
    for (let race = 0; race < MAX_RACES; race++) {
      const entry = await this.#entry(keyId, id, protocol);
      const { status } = entry.value;
      if (status === "cancelling") return entry.value;
      if (status !== "in_progress") {
        throw new GatewayError("conflict", `Cannot cancel the batch: it is ${status}`, { isFinal: true });
      }
      const change = { status: "cancelling", cancellingAt: store.now() } as const;
      if (!(await store.commit(null, changeBatch({}, entry, change))).ok) continue;
      this.runs.cancel(entry.value.id);
      return { ...entry.value, ...change };
    }
    throw new GatewayError("conflict", "Cannot cancel the batch: it changes all the time; retry");
  }

  /**
   * Deletes a batch and its files: no caller finds it any more.
   *
   * @param ends Whether a batch that has not ended is cancelled, and gets no files.
   * @throws {GatewayError} `not_found`; `conflict` if it has not ended.
   */
  async remove(
    keyId: string,
    id: string,
    { protocol, ends }: { readonly protocol: BatchProtocol; readonly ends: boolean },
  ): Promise<void> {
    const { store, stored } = this.parts;
    for (let race = 0; race < MAX_RACES; race++) {
      const entry = await this.#entry(keyId, id, protocol);
      const { status, outputFileId, errorFileId } = entry.value;
      if (!ends && !isEnded(entry.value)) {
        throw new GatewayError("conflict", `Cannot delete the batch: it is ${status}; cancel it first`, {
          isFinal: true,
        });
      }
      const deletedAt = store.now();
      const change = status === "in_progress"
        ? { deletedAt, status: "cancelling", cancellingAt: deletedAt } as const
        : { deletedAt };
      if (!(await store.commit(null, hideBatch({}, entry, change))).ok) continue;
      this.runs.cancel(entry.value.id);
      for (const file of [outputFileId, errorFileId]) {
        if (file !== null && await stored.find(keyId, file) !== null) await stored.remove(keyId, file);
      }
      return;
    }
    throw new GatewayError("conflict", "Cannot delete the batch: it changes all the time; retry");
  }

  async #entry(keyId: string, shown: string, protocol: BatchProtocol): Promise<BatchEntry> {
    const id = storedBatchId(shown, protocol);
    const entry = id === null ? null : await readBatch(this.parts.store, id);
    const isShown = entry?.value.keyId === keyId && (entry.value.protocol ?? "default") === protocol &&
      entry.value.deletedAt === undefined;
    if (entry === null || !isShown) {
      throw new GatewayError("not_found", "Cannot find the batch: it does not exist or belongs to another key");
    }
    return entry;
  }

  #readerOf(batch: NewBatch, credential: Credential): InputReader {
    const { runner, maxLineBytes } = this.parts;
    const { endpoint, betas } = batch;
    const format = lineFormatOf(batch);
    return new InputReader({ endpoint, credential, runner, format, betas, maxLineBytes: maxLineBytes() });
  }

  async #inputOf(
    batch: NewBatch,
    { keyId }: Credential,
  ): Promise<{ readonly chunks: AsyncIterable<Uint8Array>; readonly bytes: number }> {
    const { inputFileId, lines, lineBytes = 0, protocol = "default" } = batch;
    if (lines !== null) return { chunks: lines, bytes: lineBytes };
    const file = await this.parts.stored.read(keyId, inputFileId ?? "").catch((error) => {
      if (!(error instanceof GatewayError) || error.code !== "not_found") throw error;
      throw new GatewayError("not_found", error.message, { field: lineFormatOf(batch).inputFields.file });
    });
    // Files of other protocols have no purpose.
    if (protocol === "default" && file.purpose !== "batch") {
      throw new GatewayError("invalid_request", 'Cannot read "input_file_id": expected a file of the purpose "batch"', {
        field: "input_file_id",
      });
    }
    const { stream, bytes } = await this.parts.stored.open(file);
    return { chunks: stream, bytes };
  }

  /** Stores the batch, its hold and its job in one commit. */
  async #add(record: BatchRecord, credential: Credential, lineBytes: number): Promise<BatchRecord> {
    const { store, meter } = this.parts;
    const { estimate, account, id: reference, keyId, createdAt } = record;
    // Its lines were read for as long as they took. What a revoked key stores then, no erasure would find.
    await readCredential(store, { account, id: keyId });
    const admission = await admitBatch(meter, credential, estimate);
    try {
      const detail = { key: keyId, batch: reference };
      const held: Commit = estimate === 0n
        ? {}
        : addHold({}, { account, reference, amount: estimate, detail }, createdAt);
      const result = await store.commit(null, addBatch(held, record, lineBytes));
      if (result.ok) return record;
      if (result.why === "short") throw insufficientForBatch(estimate);
      throw new GatewayError("internal_error", "Cannot store the batch", { cause: result.why });
    } finally {
      // The balance is read again before the reservation ends, so that no other call is admitted in between.
      meter.invalidate(account);
      admission.release();
    }
  }

  async #addFailed(
    id: string,
    batch: NewBatch,
    credential: Credential,
    errors: readonly LineError[],
  ): Promise<BatchRecord> {
    const input = { total: 0, vendorLines: 0, estimate: 0n, model: null };
    const { store, write } = this.parts;
    const record = newRecordOf(batch, { id, owner: credential, createdAt: store.now(), input });
    const failed: BatchRecord = { ...record, status: "failed", endedAt: record.createdAt, errors };
    const commit = await addBatchEvent(addBatch({}, failed, 0), failed, {
      store,
      status: "failed",
      at: failed.createdAt,
      data: write(failed),
    });
    const result = await store.commit(null, commit);
    if (!result.ok) throw new GatewayError("internal_error", "Cannot store the batch", { cause: result.why });
    return failed;
  }
}
