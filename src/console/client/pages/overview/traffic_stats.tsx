import { Stat } from "../../components/stat.tsx";
import { bytes, compact, dollars, duration, number, percent } from "../../format.ts";
import type { Quantiles, Traffic, TrafficAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { failuresOf } from "./traffic_points.ts";

/** The numbers of a span, and what is under way now. */
export function TrafficStats({ answer: { data, total, now }, isRange }: {
  readonly answer: TrafficAnswer;
  /** Whether the rate is that of the whole time, in place of that of now. */
  readonly isRange: boolean;
}) {
  const failed = failedOf(total);
  const { caller, service } = failuresOf(total);
  const latest = isRange ? total : data.at(-1);
  const jobs = Object.values(now.jobs).reduce((sum, count) => sum + count, 0);
  return (
    <dl class="stats wide">
      <Stat name={TEXTS.overview.rate} note={TEXTS.overview.requests(compact(total.requests))}>
        {number(latest === undefined ? 0 : rateOf(latest, latest.requests))}
      </Stat>
      <Stat name={TEXTS.overview.failed} note={TEXTS.overview.failedNote(compact(caller), compact(service))}>
        {percent(total.requests === 0 ? 0 : failed / total.requests)}
      </Stat>
      <Stat name={TEXTS.overview.spend}>{dollars(total.cost)}</Stat>
      <Stat
        name={TEXTS.overview.tokens}
        note={TEXTS.overview.tokensNote(compact(total.input_tokens), compact(total.output_tokens))}
      >
        {compact(total.input_tokens + total.output_tokens)}
      </Stat>
      <Latency name={TEXTS.overview.firstByte} quantiles={total.first_byte_ms} />
      <Latency name={TEXTS.overview.total} quantiles={total.duration_ms} />
      <Stat name={TEXTS.overview.streams}>{number(now.open_streams)}</Stat>
      <Stat name={TEXTS.overview.jobs}>{number(jobs)}</Stat>
      <Stat name={TEXTS.overview.memory}>{bytes(now.memory.in_use)}</Stat>
    </dl>
  );
}

function Latency({ name, quantiles }: { readonly name: string; readonly quantiles: Quantiles | null }) {
  if (quantiles === null) return <Stat name={name}>–</Stat>;
  const { p50, p95, p99 } = quantiles;
  return <Stat name={name} note={TEXTS.overview.quantilesNote(duration(p95), duration(p99))}>{duration(p50)}</Stat>;
}

/** The number of failed requests. */
export function failedOf({ errors }: Pick<Traffic, "errors">): number {
  return Object.values(errors).reduce((sum, count) => sum + count, 0);
}

/** A count of a step for each second of it. */
export function rateOf({ from, to }: Pick<Traffic, "from" | "to">, count: number): number {
  return count / Math.max(to - from, 1);
}
