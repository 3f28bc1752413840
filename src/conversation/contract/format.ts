import type { CallerFormat } from "./caller_format.ts";
import type { PassThrough } from "./pass_through.ts";
import type { UpstreamFormat } from "./upstream_format.ts";

/** One wire format, both sides. The sides are used independently of each other. */
export interface WireFormat {
  /** Reads requests of callers and writes their replies. */
  readonly caller: CallerFormat;
  /** Writes requests to vendors and reads their replies. */
  readonly upstream: UpstreamFormat;
  /** Passes bytes through when caller and vendor use this format. */
  readonly passThrough: PassThrough;
}
