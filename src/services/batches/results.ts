import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { OpenedContent, StoredFiles } from "../stored_files/stored_files.ts";
import type { BatchRecord } from "./records/batch.ts";

/** The results of an ended batch whose format has one file of them. */
export type BatchResults = Pick<BatchRecord, "keyId" | "outputFileId">;

/** Whether the results of a batch are stored. */
export async function hasResults({ keyId, outputFileId }: BatchResults, stored: StoredFiles): Promise<boolean> {
  return outputFileId !== null && await stored.find(keyId, outputFileId) !== null;
}

/**
 * Opens the results of a batch.
 *
 * @throws {GatewayError} `not_found` if their lifetime has ended, or their file was deleted.
 */
export async function openResults({ keyId, outputFileId }: BatchResults, stored: StoredFiles): Promise<OpenedContent> {
  const file = outputFileId === null ? null : await stored.find(keyId, outputFileId);
  if (file === null) {
    throw new GatewayError("not_found", "Cannot find the results: they have expired, or their file was deleted");
  }
  return await stored.open(file);
}
