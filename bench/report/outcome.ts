import type { Scenario } from "../cases.ts";
import type { ContenderId } from "../contenders.ts";
import type { Fields, Figures } from "../contest.ts";
import type { Garbage } from "../garbage_run.ts";
import type { Machine } from "../machine.ts";
import type { MemoryUse } from "../memory_watch.ts";
import type { Piece } from "../pieces.ts";
import type { LoadProfile } from "../profiling.ts";
import type { Cores } from "../servers.ts";
import type { StreamLimit } from "../stream_steps.ts";

/** All results of a run. */
export interface Outcome {
  readonly machine: Machine;
  readonly date: Date;
  /** The duration of the run. */
  readonly minutes: number;
  readonly rounds: number;
  /** Seconds of a round. */
  readonly seconds: number;
  readonly cores: Cores;
  /** The names of the load generators. */
  readonly generators: { readonly closed: string; readonly timed: string };
  /** Why the programs in C could not be used; null if they were. */
  readonly nativeFault: string | null;
  readonly fields: Fields;
  readonly scenarios: readonly Scenario[];
  readonly figures: Figures;
  readonly limits: ReadonlyMap<ContenderId, StreamLimit>;
  /** The largest number of streams at once that was tried. */
  readonly maxStreams: number;
  readonly memory: readonly MemoryUse[];
  /** Whether memory was measured half a minute after the start and a minute after the load; else immediately. */
  readonly isMemoryAfterMinute: boolean;
  /** Replies that were counted at the gateway, and the number that its ledger charged for. */
  readonly charges: { readonly counted: number; readonly charged: number };
  /** Whole sentences: contenders that could not take part, and other notes. */
  readonly remarks: readonly string[];
  readonly profiles: readonly LoadProfile[];
  readonly pieces: readonly Piece[];
  /** What the gateway allocates; null if it was not measured. */
  readonly garbage: Garbage | null;
}
