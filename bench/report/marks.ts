import { MANY_PACED_STREAMS, PACED_STREAMS, type ScenarioId } from "../cases.ts";
import { DIRECTIONS } from "../contenders.ts";
import { cpuUsPerChunk, cpuUsPerReply, type Figures, oneWayP99Ms, p99Ms, repliesPerSecond } from "../contest.ts";
import { figure, signed } from "../markdown.ts";
import { GATEWAY_NAME, SMALL_GATEWAY_NAME } from "../memory_watch.ts";
import { streamsRatio } from "../stream_steps.ts";
import { MARKS_BEFORE } from "./before.ts";
import type { Outcome } from "./outcome.ts";

/** A performance target of the gateway, and the measurement. */
export interface Mark {
  readonly text: string;
  readonly target: string;
  /** The figure of an earlier run; null where there is none. */
  readonly before: string | null;
  /** Null when it was not measured. */
  readonly measured: string | null;
  /** Null when it was not measured. */
  readonly isMet: boolean | null;
}

const MIB = 2 ** 20;

/** Every mark: missed ones first, then met ones, and those that this run did not measure. */
export function marksOf(outcome: Outcome): Mark[] {
  const marks = [
    ...jsonMarks(outcome.figures),
    ...streamMarks(outcome),
    translationMark(outcome.figures),
    ...memoryMarks(outcome),
    ...garbageMarks(outcome),
  ];
  const rank = ({ isMet }: Mark) => isMet === null ? 2 : isMet ? 1 : 0;
  return marks.toSorted((one, other) => rank(one) - rank(other));
}

interface Bound {
  readonly text: string;
  readonly value: number | null | undefined;
  readonly write: (value: number) => string;
  readonly before: number | null;
  readonly max?: number;
  readonly min?: number;
}

function mark({ text, value, write, before, max = Infinity, min = -Infinity }: Bound): Mark {
  const known = value ?? null;
  return {
    text,
    target: max === Infinity ? `at least ${write(min)}` : `at most ${write(max)}`,
    before: before === null ? null : write(before),
    measured: known === null ? null : write(known),
    isMet: known === null ? null : known <= max && known >= min,
  };
}

const times = (value: number) => `${figure(value, 2)} ×`;
const milliseconds = (value: number) => `${signed(value, 2)} ms`;
const mebibytes = (value: number) => `${figure(value)} MiB`;
const bytes = (value: number) => `${figure(value)} bytes`;

function jsonMarks(figures: Figures): Mark[] {
  return [
    mark({
      text: "JSON of 1 KB, 32 connections: replies/s, of the bare Deno proxy's",
      value: figures.ratio("pass", "bare", "json_32", repliesPerSecond)?.median,
      write: times,
      before: MARKS_BEFORE.repliesOfBare,
      min: 0.72,
    }),
    mark({
      text: "JSON of 1 KB, 32 connections: p99, of the bare Deno proxy's",
      value: figures.ratio("pass", "bare", "json_32", p99Ms)?.median,
      write: times,
      before: MARKS_BEFORE.p99OfBare,
      max: 1.6,
    }),
    mark({
      text: "200 requests/s on one connection: p99 above the bare Deno proxy's",
      value: figures.difference("pass", "bare", "latency", p99Ms)?.median,
      write: milliseconds,
      before: MARKS_BEFORE.latencyP99OverBareMs,
      max: 1.5,
    }),
  ];
}

function streamMarks({ figures, limits }: Outcome): Mark[] {
  const overBare = (scenario: ScenarioId) => figures.difference("pass", "bare", scenario, oneWayP99Ms)?.median;
  const text = (streams: number) => `${streams} paced streams: one-way p99 above the bare Deno proxy's`;
  return [
    mark({
      text: text(PACED_STREAMS),
      value: overBare("paced"),
      write: milliseconds,
      before: MARKS_BEFORE.oneWayP99OverBareMs,
      max: 1.5,
    }),
    mark({
      text: text(MANY_PACED_STREAMS),
      value: overBare("paced_200"),
      write: milliseconds,
      before: null,
      max: 4,
    }),
    mark({
      text: `${PACED_STREAMS} paced streams: CPU a chunk, of the bare Deno proxy's`,
      value: figures.ratio("pass", "bare", "paced", cpuUsPerChunk)?.median,
      write: times,
      before: MARKS_BEFORE.chunkOfBare,
      max: 1.6,
    }),
    mark({
      text: "Paced streams at once with under 1 gap in 1,000 above 40 ms, of the bare Deno proxy's",
      value: streamsRatio(limits.get("pass"), limits.get("bare")),
      write: times,
      before: MARKS_BEFORE.streamsOfBare,
      min: 0.5,
    }),
  ];
}

function garbageMarks({ garbage }: Outcome): Mark[] {
  return [
    mark({
      text: "Garbage of a JSON request of 1 KB",
      value: garbage?.requestBytes,
      write: bytes,
      before: MARKS_BEFORE.requestGarbageBytes,
      max: 25_000,
    }),
    mark({
      text: "Garbage of a chunk",
      value: garbage?.chunkBytes,
      write: bytes,
      before: MARKS_BEFORE.chunkGarbageBytes,
      max: 1_000,
    }),
  ];
}

function translationMark(figures: Figures): Mark {
  const ratios = DIRECTIONS.flatMap(({ id }) => {
    const ratio = figures.ratio(id, "pass", "translate_json", cpuUsPerReply)?.median;
    return ratio === undefined ? [] : [{ id, ratio }];
  });
  const worst = ratios.toSorted((one, other) => other.ratio - one.ratio)[0];
  const of = worst === undefined ? "" : ` (${worst.id.replace("-", " to ")})`;
  return mark({
    text: `Translation of JSON: CPU of the most expensive direction${of}, of pass-through's`,
    value: worst?.ratio,
    write: times,
    before: MARKS_BEFORE.translationOfPass,
    max: 1.6,
  });
}

function memoryMarks({ memory, isMemoryAfterMinute }: Outcome): Mark[] {
  const of = (wanted: string) => isMemoryAfterMinute ? memory.find(({ name }) => name === wanted) : undefined;
  const mib = (resident: number | undefined) => resident === undefined ? null : resident / MIB;
  return [
    mark({
      text: "Memory half a minute after the start, with one provider and one key",
      value: mib(of(SMALL_GATEWAY_NAME)?.idle?.residentBytes),
      write: mebibytes,
      before: MARKS_BEFORE.idleMiB,
      max: 95,
    }),
    mark({
      text: "Memory one minute after the load",
      value: mib(of(GATEWAY_NAME)?.after?.residentBytes),
      write: mebibytes,
      before: MARKS_BEFORE.afterLoadMiB,
      max: 160,
    }),
  ];
}
