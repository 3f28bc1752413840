import { ownValue } from "../../lib/own_value.ts";

/** What a prompt tells the simulated vendor of videos to do. See `docs/sandbox.md`. */
export interface VideoDirectives {
  /** How long the job waits, and how long it then runs. */
  readonly queueMs: number;
  readonly runMs: number;
  /** How it ends; `never`: it does not. */
  readonly end: "success" | "refusal" | "failure" | "expiry" | "no_result" | "never";
  /** A status word of the vendor's that nobody knows, shown while it runs. */
  readonly word: string | null;
  /** Time before the creation is answered. */
  readonly stallMs: number;
  /** The creation fails with this status, the first so many times. */
  readonly fail: { readonly status: number; readonly times: number } | null;
  /** The creation is refused by the content rules. */
  readonly rejects: boolean;
  /** The job is made, and the connection ends without an answer. */
  readonly cuts: boolean;
  /** The result's address answers 404. */
  readonly missing: boolean;
  /** How long the result takes to come, piece by piece. */
  readonly slowMs: number;
  /** The result stands in the vendor's answer, where the vendor has that form. */
  readonly isInline: boolean;
  /** The length that is reported, in seconds; null for what was ordered. */
  readonly seconds: number | null;
}

const USUAL: VideoDirectives = {
  queueMs: 300,
  runMs: 700,
  end: "success",
  word: null,
  stallMs: 0,
  fail: null,
  rejects: false,
  cuts: false,
  missing: false,
  slowMs: 0,
  isInline: false,
  seconds: null,
};

type Reader = (argument: string) => Partial<VideoDirectives>;

const READERS: Readonly<Record<string, Reader>> = {
  queue: (argument) => ({ queueMs: Number(argument) || 0 }),
  run: (argument) => ({ runMs: Number(argument) || 0 }),
  stall: (argument) => ({ stallMs: Number(argument) || 0 }),
  seconds: (argument) => ({ seconds: Number(argument) || null }),
  word: (argument) => ({ word: argument }),
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
  noresult: () => ({ end: "no_result" }),
  never: () => ({ end: "never" }),
};

/** The directives of a prompt; what stands in double brackets and is none is passed over. */
export function readVideoDirectives(prompt: string): VideoDirectives {
  let directives = USUAL;
  for (const [, word, argument] of prompt.matchAll(/\[\[(\w+)\s*([^\]]*)\]\]/g)) {
    if (word === undefined || argument === undefined) continue;
    directives = { ...directives, ...ownValue(READERS, word)?.(argument.trim()) };
  }
  return directives;
}
