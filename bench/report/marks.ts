import { DIRECTIONS } from "../contenders.ts";
import {
  cpuUsPerChunk,
  cpuUsPerReply,
  type Figures,
  oneWayP99Ms,
  p50Ms,
  p99Ms,
  type Reading,
  repliesPerSecond,
} from "../contest.ts";
import type { ScenarioId } from "../cases.ts";
import type { StreamLimit } from "../stream_steps.ts";
import { BEFORE } from "./before.ts";
import { figure, signed } from "../markdown.ts";
import type { Outcome } from "./outcome.ts";

/** A performance target of the gateway, and the measurement. */
export interface Mark {
  readonly text: string;
  readonly target: string;
  /** The figure before the work on the request path; null where there is none. */
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
    ...latencyMarks(outcome.figures),
    ...bodyMarks(outcome.figures),
    ...streamMarks(outcome),
    ...translationMarks(outcome.figures),
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
const microseconds = (value: number) => `${figure(value)} µs`;
const mebibytes = (value: number) => `${figure(value)} MiB`;

function jsonMarks(figures: Figures): Mark[] {
  const ratio = (scenario: ScenarioId, of: Reading) => figures.ratio("pass", "bare", scenario, of)?.median;
  const at = (connections: 32 | 128) => {
    const scenario = `json_${connections}` as const;
    const [cpuBefore, repliesBefore] = connections === 32 ? [BEFORE.cpuOfBare, BEFORE.repliesOfBare] : [null, null];
    return [
      mark({
        text: `JSON of 1 KB, ${connections} connections: CPU a request, of the bare Deno proxy's`,
        value: ratio(scenario, cpuUsPerReply),
        write: times,
        before: cpuBefore,
        max: 1.1,
      }),
      mark({
        text: `JSON of 1 KB, ${connections} connections: replies/s, of the bare Deno proxy's`,
        value: ratio(scenario, repliesPerSecond),
        write: times,
        before: repliesBefore,
        min: 0.9,
      }),
    ];
  };
  return [...at(32), ...at(128)];
}

function latencyMarks(figures: Figures): Mark[] {
  const over = (of: Reading) => figures.difference("pass", "bare", "latency", of)?.median;
  const text = (rank: string) => `200 requests/s on one connection: ${rank} above the bare Deno proxy's`;
  return [
    mark({ text: text("p50"), value: over(p50Ms), write: milliseconds, before: BEFORE.addedP50OfBareMs, max: 0.3 }),
    mark({ text: text("p99"), value: over(p99Ms), write: milliseconds, before: BEFORE.addedP99OfBareMs, max: 1 }),
  ];
}

function bodyMarks(figures: Figures): Mark[] {
  const cpu = (scenario: ScenarioId) => figures.median("pass", scenario, cpuUsPerReply);
  return [
    mark({
      text: "Request of 100 KB: CPU a request",
      value: cpu("body_100k"),
      write: microseconds,
      before: BEFORE.body100kUs,
      max: 250,
    }),
    mark({
      text: "Request of 1 MB: CPU a request",
      value: cpu("body_1m"),
      write: microseconds,
      before: BEFORE.body1mUs,
      max: 2000,
    }),
  ];
}

const MIN_STREAMS = 700;

function streamMarks({ figures, limits, maxStreams }: Outcome): Mark[] {
  const limit = limits.get("pass");
  return [
    mark({
      text: "Paced streams: CPU a chunk",
      value: figures.median("pass", "paced", cpuUsPerChunk),
      write: microseconds,
      before: BEFORE.chunkUs,
      max: 95,
    }),
    mark({
      text: "Paced streams: one-way p99 above the bare Deno proxy's",
      value: figures.difference("pass", "bare", "paced", oneWayP99Ms)?.median,
      write: milliseconds,
      before: null,
      max: 1.5,
    }),
    mark({
      text: "Paced streams at once with under 1 gap in 1,000 above 40 ms",
      value: sustained(limit, maxStreams),
      write: (value) => figure(value),
      before: BEFORE.streams,
      min: MIN_STREAMS,
    }),
    mark({
      text: "1,000 paced streams: the largest gap",
      value: maxStreams < 1000 ? null : limit?.largestGapMs,
      write: (value) => `${figure(value)} ms`,
      before: null,
      max: 200,
    }),
  ];
}

function garbageMarks({ garbage }: Outcome): Mark[] {
  const bytes = (value: number) => `${figure(value)} bytes`;
  const rest = { write: bytes, before: null };
  return [
    mark({ text: "Garbage of a JSON request of 1 KB", value: garbage?.requestBytes, max: 25_000, ...rest }),
    mark({ text: "Garbage of a chunk", value: garbage?.chunkBytes, max: 1_000, ...rest }),
  ];
}

/** Null when a run sustained all that it tried, but tried too little. */
function sustained(limit: StreamLimit | undefined, maxStreams: number): number | null {
  if (limit === undefined || (limit.isOpenEnded && maxStreams < MIN_STREAMS)) return null;
  return limit.streams;
}

function translationMarks(figures: Figures): Mark[] {
  const loads: readonly [string, ScenarioId][] = [
    ["JSON", "translate_json"],
    ["streams sent at once", "translate_burst"],
    ["paced streams", "translate_paced"],
  ];
  return loads.map(([name, scenario]) => {
    const ratios = DIRECTIONS.map(({ id }) => ({
      id,
      ratio: figures.ratio(id, "pass", scenario, cpuUsPerReply)?.median ?? null,
    })).filter((one): one is typeof one & { ratio: number } => one.ratio !== null);
    const worst = ratios.toSorted((one, other) => other.ratio - one.ratio)[0];
    const of = worst === undefined ? "" : ` (${worst.id.replace("-", " to ")})`;
    return mark({
      text: `Translation, ${name}: CPU of the most expensive direction${of}, of pass-through's`,
      value: worst?.ratio,
      write: times,
      before: null,
      max: 1.25,
    });
  });
}

function memoryMarks({ memory, isMemoryAfterMinute }: Outcome): Mark[] {
  const own = memory.find(({ name }) => name === "Switchyard");
  const mib = (bytes: number | undefined) => bytes === undefined ? null : bytes / MIB;
  return [
    mark({
      text: "Idle memory",
      value: isMemoryAfterMinute ? mib(own?.idle?.residentBytes) : null,
      write: mebibytes,
      before: BEFORE.idleMiB,
      max: 75,
    }),
    mark({
      text: "Memory one minute after the load",
      value: isMemoryAfterMinute ? mib(own?.after?.residentBytes) : null,
      write: mebibytes,
      before: null,
      max: 150,
    }),
  ];
}
