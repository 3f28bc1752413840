import { randomBytes } from "node:crypto";

/** The place of a request in a trace. Plain, so that threads can send it. Source: W3C Trace Context. */
export interface RequestTrace {
  /** 32 hexadecimal digits, the same for all spans of a trace. */
  readonly traceId: string;
  /** The gateway's own span: 16 hexadecimal digits. */
  readonly spanId: string;
  /** The caller's span; null if the caller sent none. */
  readonly parentId: string | null;
  /** Whether the spans are exported. */
  readonly isSampled: boolean;
  /** The `tracestate` of the caller, which is passed on unchanged; empty for none. */
  readonly state: string;
}

/** The fields that a caller sent. */
export interface TraceParent extends Pick<RequestTrace, "traceId" | "isSampled" | "state"> {
  /** The caller's span. */
  readonly parentId: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = "0".repeat(32);
const NO_SPAN = "0".repeat(16);
const SAMPLED = 1;

/**
 * Reads `traceparent` and `tracestate`. A malformed `traceparent` counts as missing, and a malformed `tracestate` as
 * empty. Later versions are read as version 00. Source: W3C Trace Context, 3.2 and 3.3.
 */
export function readTraceParent(traceparent: string | null, tracestate: string | null): TraceParent | null {
  const match = traceparent === null ? null : TRACEPARENT.exec(traceparent);
  if (match === null) return null;
  const [, version = "", traceId = "", parentId = "", flags = "", rest] = match;
  if (version === "ff" || (version === "00" && rest !== undefined)) return null;
  if (traceId === NO_TRACE || parentId === NO_SPAN) return null;
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) !== 0;
  return { traceId, parentId, isSampled, state: isTraceState(tracestate ?? "") ? tracestate ?? "" : "" };
}

const MAX_STATE_CHARACTERS = 512;
const MAX_STATE_MEMBERS = 32;
const STATE_MEMBER = /^[ \t]*(?:([a-z0-9][a-z0-9_\-*/@]{0,255})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256})?[ \t]*$/;

function isTraceState(text: string): boolean {
  if (text.length > MAX_STATE_CHARACTERS) return false;
  const members = text.split(",");
  if (members.length > MAX_STATE_MEMBERS) return false;
  const keys = new Set<string>();
  for (const member of members) {
    const match = STATE_MEMBER.exec(member);
    if (match === null) return false;
    const [, key] = match;
    if (key === undefined) continue; // an empty member
    if (keys.has(key)) return false;
    keys.add(key);
  }
  return true;
}

/** The header lines of an outgoing request in a span of the gateway, each ended by CR LF. */
export function traceHeaderLines({ traceId, isSampled, state }: RequestTrace, spanId: string): string {
  const line = `traceparent: 00-${traceId}-${spanId}-0${isSampled ? SAMPLED : 0}\r\n`;
  return state === "" ? line : `${line}tracestate: ${state}\r\n`;
}

/** Random digits that are not used yet. */
let digits = "";
const DRAWN_BYTES = 4_096;

function randomDigits(length: number): string {
  if (digits.length < length) digits = randomBytes(DRAWN_BYTES).toString("hex");
  const drawn = digits.slice(0, length);
  digits = digits.slice(length);
  // All zeros is not an id.
  return /[^0]/.test(drawn) ? drawn : randomDigits(length);
}

/** Creates the id of a trace. */
export function newTraceId(): string {
  return randomDigits(NO_TRACE.length);
}

/** Creates the id of a span. */
export function newSpanId(): string {
  return randomDigits(NO_SPAN.length);
}
