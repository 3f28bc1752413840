import { ownValue } from "../../platform/lib/collections/own_value.ts";

/** The instructions for the simulated video vendor in a prompt. See `docs/sandbox.md`. */
export interface VideoDirectives {
  /** How long the job waits, and how long it then runs. */
  readonly queueMs: number;
  readonly runMs: number;
  /** How the job ends. `never`: it does not end. */
  readonly end: "success" | "refusal" | "failure" | "expiry" | "no_result" | "never";
  /** An unknown status that is reported while the job runs. */
  readonly unknownStatus: string | null;
  /** The delay before the response to the creation. */
  readonly stallMs: number;
  /** The creation fails this many times with this status. */
  readonly fail: { readonly status: number; readonly times: number } | null;
  /** Whether the content rules reject the creation. */
  readonly rejects: boolean;
  /** Whether the job is created but the connection ends without a response. */
  readonly cuts: boolean;
  /** Whether the result's address returns 404. */
  readonly missing: boolean;
  /** How long the download of the result takes, in pieces. */
  readonly slowMs: number;
  /** Whether the vendor's response contains the result, if the vendor supports that. */
  readonly isInline: boolean;
  /** The ages of the job, in ms, between which the vendor does not have it. Null or absent if it always has it. */
  readonly lost?: { readonly fromMs: number; readonly untilMs: number } | null;
  /** The reported length in seconds. Null to report the requested length. */
  readonly seconds: number | null;
}

const DEFAULT_DIRECTIVES: VideoDirectives = {
  queueMs: 300,
  runMs: 700,
  end: "success",
  unknownStatus: null,
  stallMs: 0,
  fail: null,
  rejects: false,
  cuts: false,
  missing: false,
  slowMs: 0,
  isInline: false,
  lost: null,
  seconds: null,
};

type Reader = (argument: string) => Partial<VideoDirectives>;

const READERS: Readonly<Record<string, Reader>> = {
  queue: (argument) => ({ queueMs: Number(argument) || 0 }),
  run: (argument) => ({ runMs: Number(argument) || 0 }),
  stall: (argument) => ({ stallMs: Number(argument) || 0 }),
  seconds: (argument) => ({ seconds: Number(argument) || null }),
  word: (argument) => ({ unknownStatus: argument }),
  fail: (argument) => {
    const [status, times = "1000000"] = argument.split(" ");
    return { fail: { status: Number(status) || 500, times: Number(times) || 1 } };
  },
  reject: () => ({ rejects: true }),
  cut: () => ({ cuts: true }),
  missing: () => ({ missing: true }),
  slow: (argument) => ({ slowMs: Number(argument) || 0 }),
  inline: () => ({ isInline: true }),
  refuse: () => ({ end: "refusal" }),
  failure: () => ({ end: "failure" }),
  expire: () => ({ end: "expiry" }),
  lost: (argument) => {
    const [from, until] = argument.split(" ").map(Number);
    return { lost: { fromMs: from || 0, untilMs: until || Number.MAX_SAFE_INTEGER } };
  },
  noresult: () => ({ end: "no_result" }),
  never: () => ({ end: "never" }),
};

/** Parses the directives of a prompt. Other text in double brackets is ignored. */
export function readVideoDirectives(prompt: string): VideoDirectives {
  let directives = DEFAULT_DIRECTIVES;
  for (const [, word, argument] of prompt.matchAll(/\[\[(\w+)\s*([^\]]*)\]\]/g)) {
    if (word === undefined || argument === undefined) continue;
    directives = { ...directives, ...ownValue(READERS, word)?.(argument.trim()) };
  }
  return directives;
}
