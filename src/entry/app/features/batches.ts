import { BATCH_LIMITS, type BatchProtocol, type BatchRecord } from "../../../services/batches/records/batch.ts";
import { Batches } from "../../../services/batches/batches.ts";
import {
  type BatchParts,
  MAX_LINES_AT_ONCE,
  MAX_READS_OF_ACCOUNT,
} from "../../../services/batches/settling/batch_parts.ts";
import { batchSweep, cleanHandler } from "../../../services/batches/retention.ts";
import { BatchRuns } from "../../../services/batches/run.ts";
import { accessLog } from "../../../platform/http/access_log.ts";
import { observeAll, type RequestObserver } from "../../../platform/http/request/request_record.ts";
import { FairPermits } from "../../../platform/lib/collections/permits.ts";
import type { EgressPolicy } from "../../../platform/net/target.ts";
import { writeContentBatch } from "../../../protocols/content/batch_operation.ts";
import { writeBatch } from "../../../protocols/default/batches.ts";
import { writeMessageBatch } from "../../../protocols/message/batches.ts";
import { createJobRunner, type JobRunner } from "../../../platform/store/job_runner.ts";
import type { Webhooks } from "../../../services/webhooks/webhooks.ts";
import { createLineTasks } from "./line_tasks.ts";
import { createLineRunner, type LineRunnerOptions } from "./batch_lines.ts";
import type { OwnedServices } from "../opening/own.ts";
import type { Sweep } from "../jobs/retention.ts";
import { createAccountRoom } from "../opening/account_room.ts";
import { createStoredFiles } from "../opening/stored_files.ts";

/** What {@linkcode createBatchFeature} needs beside the services. */
export interface BatchFeatureOptions extends Pick<LineRunnerOptions, "current" | "videos"> {
  /** Gives the gateway's own address without a final slash. */
  readonly baseUrl: () => string;
  readonly egress: EgressPolicy;
  readonly isTestReceiver: (url: string) => boolean;
  readonly webhooks: Pick<Webhooks, "onRemoval">;
}

/** Batches: their operations and their jobs. */
export interface BatchFeature {
  readonly batches: Batches;
  /** Removes batches at the end of their retention. */
  readonly sweep: Sweep;
  startJobs(): JobRunner;
}

/** How callers of each protocol read a batch. */
const WRITERS: Readonly<Record<BatchProtocol, (batch: BatchRecord, baseUrl: string) => object>> = {
  default: writeBatch,
  message: writeMessageBatch,
  content: (batch) => writeContentBatch(batch),
};

/** More than a run lasts, and the lines that it waits for at its end. */
const RUN_TIMEOUT_MS = 3_600_000;
/** The batches that one process runs simultaneously. */
const MAX_RUNS = 32;

/** Builds batches. They last as long as the process, and use the active configuration. */
export function createBatchFeature(services: OwnedServices, options: BatchFeatureOptions): BatchFeature {
  const { store, files, meter, clock, log, config: { retention } } = services;
  const { current, videos, egress, isTestReceiver, webhooks } = options;
  const observer = observerOf(services);
  const parts: BatchParts = {
    store,
    files: files.results,
    stored: createStoredFiles(services),
    room: createAccountRoom(services, () => current().services.config.limits.accountFilesBytes),
    meter,
    clock,
    log,
    egress,
    isTestReceiver,
    runner: createLineRunner({ current, videos, observer }),
    tasks: createLineTasks({ services: () => current().services, videos, observer }),
    write: (batch) => WRITERS[batch.protocol ?? "default"](batch, options.baseUrl()),
    countLines: services.counts.lines.count,
    maxLineBytes: () => Math.min(current().services.config.limits.textBodyBytes, BATCH_LIMITS.lineBytes),
    permits: new FairPermits({ inAll: MAX_LINES_AT_ONCE }),
    readers: new FairPermits({ each: MAX_READS_OF_ACCOUNT }),
  };
  const runs = new BatchRuns(parts);
  const removal = { store, files: files.results, onRemoval: webhooks.onRemoval, log };
  return {
    batches: new Batches(parts, runs),
    sweep: batchSweep(removal, retention.tasksMs),
    startJobs() {
      const runner = createJobRunner({
        store,
        clock,
        log,
        handlers: { batch_run: runs.handler, batch_clean: cleanHandler(removal) },
        concurrency: { batch_run: MAX_RUNS, batch_clean: 2 },
        timeoutMs: RUN_TIMEOUT_MS,
      });
      return {
        get running() {
          return runner.running;
        },
        async drain(graceMs) {
          runs.stop();
          await runner.drain(graceMs);
        },
      };
    },
  };
}

/** Lines are logged and counted as requests are. */
function observerOf({ log, clock, counts, countsRequests, requestLog }: OwnedServices): RequestObserver {
  return observeAll([
    accessLog(log, clock),
    ...countsRequests ? [counts.requests.observe] : [],
    ...requestLog === null ? [] : [requestLog.observe],
  ]);
}
