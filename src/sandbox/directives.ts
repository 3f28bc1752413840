import type { StopReason } from "../conversation/neutral/reply.ts";
import { parsedOrNull } from "../conversation/neutral/wire_value.ts";
import { ownValue } from "../platform/lib/collections/own_value.ts";

/** The simulated vendors. */
export type Vendor = "openai" | "anthropic" | "google" | "ark" | "xai" | "alibaba" | "bedrock";

/** A failure before the first byte. */
export interface RequestedFailure {
  readonly status: number;
  readonly retryAfterSeconds: number | null;
  /** Null for the vendor's default message. */
  readonly message: string | null;
}

/** A tool call to make. */
export interface RequestedCall {
  readonly tool: string;
  /** JSON text, or free text for a custom tool. Null to generate it from the tool's schema. */
  readonly input: string | null;
}

/** The instructions for the simulated model in a prompt. See `docs/sandbox.md` for their syntax. */
export interface Directives {
  /** The prompt's text without directives. */
  readonly text: string;
  readonly fail: RequestedFailure | null;
  /** How many times the same prompt fails before it succeeds. */
  readonly flaky: number;
  readonly stallMs: number;
  readonly pauseMs: number;
  readonly gapMs: number;
  /**
   * The number of deltas after which the connection breaks, the reply ends early, or an error is reported. Null for
   * never.
   */
  readonly cutAfter: number | null;
  readonly closeAfter: number | null;
  readonly errorAfter: number | null;
  readonly calls: readonly RequestedCall[];
  readonly reasoning: string | null;
  /** Whether the reasoning is hidden and only its signature is shown. */
  readonly redactsReasoning: boolean;
  readonly say: string | null;
  /** The query of a web search, if the request offers a search. Null for none. */
  readonly search: string | null;
  readonly words: number | null;
  /** The output tokens of one request, for models that go on in further requests. */
  readonly hop: number | null;
  readonly stop: StopReason | null;
  readonly refuses: boolean;
  readonly html: boolean;
  readonly truncates: boolean;
  readonly noUsage: boolean;
}

/** No directives: the model echoes. */
export const NO_DIRECTIVES: Directives = {
  text: "",
  fail: null,
  flaky: 0,
  stallMs: 0,
  pauseMs: 0,
  gapMs: 0,
  cutAfter: null,
  closeAfter: null,
  errorAfter: null,
  calls: [],
  reasoning: null,
  redactsReasoning: false,
  say: null,
  search: null,
  words: null,
  hop: null,
  stop: null,
  refuses: false,
  html: false,
  truncates: false,
  noUsage: false,
};

/**
 * Parses the directives of a prompt and removes them from its text. Other text in double brackets stays. A directive
 * for another vendor (`[[google: fail 503]]`) is removed without effect.
 */
export function readDirectives(prompt: string, vendor: Vendor): Directives {
  let directives = NO_DIRECTIVES;
  let text = "";
  let at = 0;
  for (;;) {
    const open = prompt.indexOf("[[", at);
    const close = open < 0 ? -1 : closeOf(prompt, open + 2);
    if (close < 0) break;
    text += prompt.slice(at, open);
    at = close + 2;
    const inner = prompt.slice(open + 2, close).trim();
    const addressee = /^(openai|anthropic|google|ark|xai|alibaba|bedrock):/.exec(inner)?.[1];
    const directive = addressee === undefined ? inner : inner.slice(addressee.length + 1).trimStart();
    const change = changeOf(directive, directives);
    if (change === null) {
      text += prompt.slice(open, at);
      continue;
    }
    if (/(^|\s)$/.test(text) && prompt[at] === " ") at++; // avoids two spaces in place of a directive
    if (addressee === undefined || addressee === vendor) directives = { ...directives, ...change };
  }
  return { ...directives, text: (text + prompt.slice(at)).trim() };
}

/**
 * Returns the position of the closing brackets. The arguments of a call may contain double brackets, so the call must
 * be complete.
 */
function closeOf(prompt: string, start: number): number {
  const first = lastOfRun(prompt, prompt.indexOf("]]", start));
  for (let close = first; close >= 0; close = lastOfRun(prompt, prompt.indexOf("]]", close + 1))) {
    const json = /^\s*(?:\w+:\s*)?tool\s+\S+\s+(\{[^]*)$/.exec(prompt.slice(start, close))?.[1];
    if (json === undefined || parsedOrNull(json) !== null) return close;
  }
  return first;
}

/** In `]]]`, the last two brackets close. */
function lastOfRun(prompt: string, close: number): number {
  let last = close;
  while (last >= 0 && prompt[last + 2] === "]") last++;
  return last;
}

type Change = Partial<Directives>;

/** Returns the change that one directive makes. Null if it is not a directive, or its argument is invalid. */
function changeOf(text: string, before: Directives): Change | null {
  const end = text.search(/\W|$/);
  return ownValue(READERS, text.slice(0, end))?.(text.slice(end).trim(), before) ?? null;
}

const MAX_DURATION_MS = 600_000;
const MAX_WORDS = 100_000;
const STOPS: readonly StopReason[] = [
  "end",
  "stop_sequence",
  "max_tokens",
  "context_full",
  "tool_calls",
  "refusal",
  "content_filter",
  "prompt_blocked",
  "bad_tool_call",
  "paused",
];

const READERS: Readonly<Record<string, (argument: string, before: Directives) => Change | null>> = {
  fail: readFailure,
  flaky: (argument) => numbered(argument, 100, (flaky) => ({ flaky })),
  stall: (argument) => numbered(argument, MAX_DURATION_MS, (stallMs) => ({ stallMs })),
  pause: (argument) => numbered(argument, MAX_DURATION_MS, (pauseMs) => ({ pauseMs })),
  gap: (argument) => numbered(argument, MAX_DURATION_MS, (gapMs) => ({ gapMs })),
  cut: (argument) => numbered(argument, MAX_WORDS, (cutAfter) => ({ cutAfter })),
  close: (argument) => numbered(argument, MAX_WORDS, (closeAfter) => ({ closeAfter })),
  error: (argument) => numbered(argument, MAX_WORDS, (errorAfter) => ({ errorAfter })),
  hop: (argument) => numbered(argument, MAX_WORDS, (hop) => ({ hop: Math.max(1, hop) })),
  words: (argument) => numbered(argument, MAX_WORDS, (words) => ({ words })),
  tool: readCall,
  think: (argument) => argument === "" ? null : { reasoning: argument },
  redact: (argument) => ({ reasoning: argument || "Hidden thoughts", redactsReasoning: true }),
  say: (argument) => ({ say: argument }),
  search: (argument) => argument === "" ? null : { search: argument },
  stop: (argument) => {
    const stop = STOPS.find((reason) => reason === argument);
    return stop === undefined ? null : { stop };
  },
  refuse: (argument) => bare(argument, { refuses: true }),
  html: (argument) => bare(argument, { html: true }),
  truncate: (argument) => bare(argument, { truncates: true }),
  nousage: (argument) => bare(argument, { noUsage: true }),
  // Read from all lines of a batch: see `readBatchDirectives`.
  batch: () => ({}),
};

function numbered(argument: string, max: number, change: (number: number) => Change): Change | null {
  if (!/^\d{1,6}$/.test(argument) || Number(argument) > max) return null;
  return change(Number(argument));
}

function bare(argument: string, change: Change): Change | null {
  return argument === "" ? change : null;
}

function readFailure(argument: string): Change | null {
  const match = /^([45]\d\d)(?:\s+(\d{1,5}))?(?:\s+([^]+))?$/.exec(argument);
  if (!match) return null;
  const [, status, seconds, message] = match;
  const retryAfterSeconds = seconds === undefined ? null : Number(seconds);
  return { fail: { status: Number(status), retryAfterSeconds, message: message ?? null } };
}

function readCall(argument: string, { calls }: Directives): Change | null {
  const [, tool, input = null] = /^(\S+)(?:\s+([^]+))?$/.exec(argument) ?? [];
  return tool === undefined ? null : { calls: [...calls, { tool, input }] };
}
