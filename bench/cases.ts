import type { Load } from "./load.ts";
import { type Mode, SMALL_BODY_BYTES } from "./load_request.ts";

/** The parts of the benchmark that can be run alone. */
export type CaseId =
  | "json"
  | "latency"
  | "bodies"
  | "streams"
  | "translation"
  | "memory"
  | "pieces"
  | "profile"
  | "garbage";

/** Every part, in the order of the report. */
export const CASE_IDS: readonly CaseId[] = [
  "json",
  "latency",
  "bodies",
  "streams",
  "translation",
  "memory",
  "pieces",
  "profile",
  "garbage",
];

/** A load that contenders are put under in turn. */
export interface Scenario {
  readonly id: ScenarioId;
  readonly caseId: CaseId;
  /** The line in the report's tables. */
  readonly title: string;
  readonly mode: Mode;
  readonly bodyBytes: number;
  readonly connections: number;
  readonly load: Load;
  /**
   * `rivals`: no proxy, the bare proxies, Switchyard and the peers. `directions`: Switchyard, passed through and
   * translated.
   */
  readonly contenders: "rivals" | "directions";
  /** Fewer rounds than other loads have: no mark needs more. */
  readonly maxRounds?: number;
}

/** Short names of the loads. */
export type ScenarioId =
  | "json_32"
  | "json_128"
  | "latency"
  | "closed_1"
  | "body_100k"
  | "body_1m"
  | "paced"
  | "paced_200"
  | "translate_json"
  | "translate_burst"
  | "translate_paced";

/** Requests per second of the load that measures added latency. */
export const LATENCY_RATE = 200;

/** Streams at once of the load that measures processor time per chunk. */
export const PACED_STREAMS = 100;

/** Simultaneous streams of the load that measures how late chunks are when the gateway has more to do. */
export const MANY_PACED_STREAMS = 200;

const SMALL = { bodyBytes: SMALL_BODY_BYTES, load: { kind: "closed" }, contenders: "rivals" } as const;
const DIRECTION = { ...SMALL, caseId: "translation", contenders: "directions" } as const;
const STREAMS: Load = { kind: "streams" };
/** For loads that no mark is about. */
const FEW_ROUNDS = 3;

/** All loads, in the order in which they run. */
export const SCENARIOS: readonly Scenario[] = [
  { ...SMALL, id: "json_32", caseId: "json", title: "JSON of 1 KB, 32 connections", mode: "json", connections: 32 },
  {
    ...SMALL,
    id: "json_128",
    caseId: "json",
    title: "JSON of 1 KB, 128 connections",
    mode: "json",
    connections: 128,
    maxRounds: FEW_ROUNDS,
  },
  {
    ...SMALL,
    id: "latency",
    caseId: "latency",
    title: `${LATENCY_RATE} requests/s on one connection`,
    mode: "json",
    connections: 1,
    load: { kind: "rate", perSecond: LATENCY_RATE },
  },
  {
    ...SMALL,
    id: "closed_1",
    caseId: "latency",
    title: "One connection, each request after the reply before",
    mode: "json",
    connections: 1,
  },
  {
    ...SMALL,
    id: "body_100k",
    caseId: "bodies",
    title: "Request of 100 KB, 16 connections",
    mode: "json",
    bodyBytes: 100_000,
    connections: 16,
    maxRounds: FEW_ROUNDS,
  },
  {
    ...SMALL,
    id: "body_1m",
    caseId: "bodies",
    title: "Request of 1 MB, 8 connections",
    mode: "json",
    bodyBytes: 1_000_000,
    connections: 8,
    maxRounds: FEW_ROUNDS,
  },
  {
    ...SMALL,
    id: "paced",
    caseId: "streams",
    title: `${PACED_STREAMS} paced streams`,
    mode: "paced",
    connections: PACED_STREAMS,
    load: STREAMS,
  },
  {
    ...SMALL,
    id: "paced_200",
    caseId: "streams",
    title: `${MANY_PACED_STREAMS} paced streams`,
    mode: "paced",
    connections: MANY_PACED_STREAMS,
    load: STREAMS,
  },
  { ...DIRECTION, id: "translate_json", title: "JSON of 1 KB, 32 connections", mode: "json", connections: 32 },
  {
    ...DIRECTION,
    id: "translate_burst",
    title: "Streams sent at once, 16 connections",
    mode: "burst",
    connections: 16,
    maxRounds: FEW_ROUNDS,
  },
  {
    ...DIRECTION,
    id: "translate_paced",
    title: `${PACED_STREAMS} paced streams`,
    mode: "paced",
    connections: PACED_STREAMS,
    load: STREAMS,
    maxRounds: FEW_ROUNDS,
  },
];
