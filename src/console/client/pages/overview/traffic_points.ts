import type { ErrorCode } from "../../../../platform/lib/basics/gateway_error.ts";
import type { Traffic } from "../../shapes.ts";

/** A shorter time between two steps is none: each step ends when the next one begins, up to rounding. */
const MIN_GAP_SECONDS = 1;

/** The points of a chart of steps. */
export interface TrafficPoints {
  /** Unix seconds, ascending. */
  readonly times: readonly number[];
  /** The step that holds from each time on; null where nothing was counted, such as while no gateway ran. */
  readonly steps: readonly (Traffic | null)[];
}

/** A point at the start of each step, one at its end where none follows, and a gap where nothing was counted. */
export function trafficPoints(steps: readonly Traffic[]): TrafficPoints {
  const points = steps.flatMap((step, place): [number, Traffic | null][] => {
    const start: [number, Traffic] = [step.from, step];
    const next = steps[place + 1];
    if (next === undefined) return [start, [step.to, step]];
    const gap = next.from - step.to;
    return gap < MIN_GAP_SECONDS ? [start] : [start, [step.to, step], [step.to + gap / 2, null]];
  });
  return { times: points.map(([at]) => at), steps: points.map(([, step]) => step) };
}

const DAY_SECONDS = 86_400;
const SPAN_SECONDS = { hour: 3_600, day: DAY_SECONDS, week: 7 * DAY_SECONDS, month: 31 * DAY_SECONDS };

/** The times at the ends of the axis: the whole span that was chosen, also what was not counted. */
export function axisOf(span: keyof typeof SPAN_SECONDS, steps: readonly Traffic[]): readonly [number, number] {
  const to = steps.at(-1)?.to ?? 0;
  return [Math.min(to - SPAN_SECONDS[span], steps[0]?.from ?? to), to];
}

/** The ends of the axis of a chosen time range. Steps are whole, so the first and the last can exceed it. */
export function rangeAxis([from, to]: readonly [number, number], steps: readonly Traffic[]): readonly [number, number] {
  return [Math.min(from, steps[0]?.from ?? from), Math.max(to, steps.at(-1)?.to ?? to)];
}

/** The codes of failures of vendors and of the gateway. All others are of what the caller sent. */
const SERVICE_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  ...["overloaded", "storage_unavailable", "upstream_error", "route_error", "upstream_timeout"] as const,
  ...["internal_error", "upstream_auth_failed"] as const,
]);

/** Whether requests with a code failed by what the caller sent, or by a vendor or the gateway. */
export function sideOf(code: string): "caller" | "service" {
  return SERVICE_CODES.has(code) ? "service" : "caller";
}

/** The number of requests that failed by what the caller sent, and by a vendor or the gateway. */
export function failuresOf({ errors }: Pick<Traffic, "errors">): { readonly caller: number; readonly service: number } {
  const counts = Object.entries(errors);
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  const service = counts.reduce((sum, [code, count]) => sum + (sideOf(code) === "service" ? count : 0), 0);
  return { caller: all - service, service };
}
