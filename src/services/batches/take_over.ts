import type { Job } from "../../platform/store/store.ts";
import { writtenVersion } from "../../platform/store/written_version.ts";
import { isEnded } from "./records/batch.ts";
import type { BatchParts } from "./settling/batch_parts.ts";
import { type BatchEntry, changeBatch, readBatch } from "./records/records.ts";

/**
 * Notes in the batch that this job settles its lines, so that those of an earlier worker are refused. Null if the job
 * has nothing to do.
 */
export async function takeOver({ store }: BatchParts, job: Job): Promise<BatchEntry | null> {
  for (let race = 0; race < 8; race++) {
    const entry = await readBatch(store, job.ref);
    if (entry === null || isEnded(entry.value) || entry.value.epoch > job.epoch) return null;
    const change = { epoch: job.epoch };
    const commit = changeBatch({}, entry, change);
    const result = await store.commit(null, commit);
    const version = writtenVersion(commit, result, entry.key);
    if (version !== null) return { ...entry, value: { ...entry.value, ...change }, version };
  }
  throw new Error("The batch changes all the time");
}
