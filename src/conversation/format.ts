import type { CallerFormat } from "./caller_format.ts";
import type { PassThrough } from "./pass_through.ts";
import type { UpstreamFormat } from "./upstream_format.ts";

/**
 * One wire format in full. Each side is used without the other: a caller's side faces callers, the other faces vendors.
 */
export interface WireFormat {
  /** How requests of callers are read and their replies written. */
  readonly caller: CallerFormat;
  /** How requests to vendors are written and their replies read. */
  readonly upstream: UpstreamFormat;
  /** How bytes pass where both ends speak this format. */
  readonly passThrough: PassThrough;
}
