import { localTime, utcTime } from "../format.ts";

/** An instant in the viewer's time zone; UTC on hover. */
export function Instant({ at }: {
  /** Unix seconds. */
  readonly at: number;
}) {
  return <time dateTime={new Date(at * 1_000).toISOString()} title={utcTime(at)}>{localTime(at)}</time>;
}
