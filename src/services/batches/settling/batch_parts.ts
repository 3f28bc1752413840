import type { Meter } from "../../../money/billing/meter/meter.ts";
import type { FileStore } from "../../../platform/files/files.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import type { FairPermits } from "../../../platform/lib/collections/permits.ts";
import type { EgressPolicy } from "../../../platform/net/target.ts";
import type { Store } from "../../../platform/store/store.ts";
import type { AccountRoom } from "../../stored_files/account_room.ts";
import type { StoredFiles } from "../../stored_files/stored_files.ts";
import type { BatchRecord } from "../records/batch.ts";
import type { LineRunner } from "../lines/line_runner.ts";
import type { LineTasks } from "../lines/line_tasks.ts";

/** How a line ends. Lines that were cancelled or have expired were not run. */
export type LineEnd = "completed" | "failed" | "cancelled" | "expired";

/** The dependencies of batches. */
export interface BatchParts {
  readonly store: Store;
  readonly files: FileStore;
  readonly stored: StoredFiles;
  /** Limits what an account stores. Lines count, since they stay until their batch ends. */
  readonly room: Pick<AccountRoom, "take">;
  readonly meter: Pick<Meter, "admit" | "admitFree" | "probe" | "invalidate">;
  readonly clock: Clock;
  readonly log: Log;
  /** The policy for the addresses of webhooks. */
  readonly egress: EgressPolicy;
  /** Whether an address is a receiver inside the gateway. */
  readonly isTestReceiver: (url: string) => boolean;
  readonly runner: LineRunner;
  readonly tasks: LineTasks;
  /** The batch as its caller reads it, for webhooks. */
  readonly write: (batch: BatchRecord) => object;
  /** Counts lines that have ended, for the metrics. */
  readonly countLines: (end: LineEnd, lines: number) => void;
  /** The maximum size of one request. */
  readonly maxLineBytes: () => number;
  /** Limits the lines of all batches that run in this process; the accounts take turns. */
  readonly permits: FairPermits;
  /** Limits the creates of each account whose lines are read: each has up to 50,000 ids in memory. */
  readonly readers: FairPermits;
}

/** The creates of one account whose lines are read simultaneously. */
export const MAX_READS_OF_ACCOUNT = 2;

/** The lines of all batches that one process runs simultaneously. Interactive requests are not limited by it. */
export const MAX_LINES_AT_ONCE = 16;

/** Of one batch, so that several batches of an account run next to each other. */
export const MAX_LINES_OF_BATCH = 8;
