import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { StoreTime } from "../../platform/store/store_time.ts";
import { type BatchRecord, COMPLETION_WINDOWS, hasTasks, NO_BATCH_USAGE } from "./records/batch.ts";
import type { FileOwner } from "../stored_files/stored_files.ts";
import type { ReadInput } from "./read_input.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";

/** A batch to be created. */
export interface NewBatch extends Pick<BatchRecord, "protocol" | "betas" | "client" | "displayName"> {
  /** The model of the batch, where a create names one. */
  readonly model?: string;
  readonly endpoint: string;
  /** The file of the lines; null if `lines` has them. */
  readonly inputFileId: string | null;
  /** The lines of the create, one after the other; null if a file has them. */
  readonly lines: AsyncIterable<Uint8Array> | null;
  /** About so many bytes `lines` has: the size of the create. Absent: a file has the lines. */
  readonly lineBytes?: number;
  readonly completionWindow: string;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly callbackUrl: string | null;
  readonly outputSeconds: number | null;
}

/** With metadata and its address, a record stays below the size of a value, whatever its run adds to it. */
const MAX_BETAS_CHARACTERS = 2_048;
const MAX_MODEL_CHARACTERS = 256;

/** @throws {GatewayError} `invalid_request` for a create whose record could become too long for the store. */
export function refuseLongNames({ betas = "", model = "" }: NewBatch): void {
  if (betas.length > MAX_BETAS_CHARACTERS) {
    throw invalidField("anthropic-beta", `expected at most ${MAX_BETAS_CHARACTERS} characters`);
  }
  if (model.length > MAX_MODEL_CHARACTERS) {
    throw invalidField("model", `expected at most ${MAX_MODEL_CHARACTERS} characters`);
  }
}

/** What a create adds to what its caller asks for. */
export interface NewRecordFacts {
  readonly id: string;
  readonly owner: FileOwner;
  readonly createdAt: StoreTime;
  /** What its lines have. */
  readonly input: ReadInput;
}

/** The record of a batch whose lines can be run. */
export function newRecordOf(
  batch: NewBatch,
  { id, owner, createdAt, input }: NewRecordFacts,
): BatchRecord {
  const {
    protocol,
    betas,
    client,
    displayName,
    model,
    endpoint,
    inputFileId,
    completionWindow,
    metadata,
    callbackUrl,
    outputSeconds,
  } = batch;
  return {
    id,
    account: owner.accountId,
    keyId: owner.keyId,
    ...protocol !== undefined && { protocol },
    ...betas !== undefined && { betas },
    ...client !== undefined && hasTasks(batch) && { client },
    ...displayName !== undefined && { displayName },
    endpoint,
    inputFileId,
    completionWindow,
    metadata,
    callbackUrl,
    outputSeconds,
    status: "in_progress",
    createdAt,
    expiresAt: createdAt + (ownValue(COMPLETION_WINDOWS, completionWindow) ?? 0),
    finalizingAt: null,
    cancellingAt: null,
    endedAt: null,
    total: input.total,
    vendorLines: input.vendorLines,
    isCut: false,
    isOwnDone: false,
    completed: 0,
    failed: 0,
    estimate: input.estimate,
    cost: 0n,
    usage: NO_BATCH_USAGE,
    model: model ?? input.model,
    errors: [],
    outputFileId: null,
    errorFileId: null,
    epoch: 0,
  };
}
