import type { Figures } from "./contest.ts";
import { figure, signed } from "./markdown.ts";

/** A performance target of the gateway relative to the bare proxy, and the measurement. */
export interface Target {
  readonly text: string;
  /** Null when it could not be measured. */
  readonly measured: string | null;
  readonly isMet: boolean | null;
}

const JSON_SHARE = 0.7;
const STREAM_SHARE = 0.8;
const FIRST_TOKEN_MS = 1;

/** The gateway's targets for passed replies. */
export function targetsOf(figures: Figures): Target[] {
  const first = (id: "bare" | "pass") => figures.median(id, "brief", (run) => run.firstMs?.p50);
  const [bareFirst, passFirst] = [first("bare"), first("pass")];
  const added = bareFirst === null || passFirst === null ? null : passFirst - bareFirst;
  return [
    share(
      `b serves at least ${JSON_SHARE} of a's JSON requests (32 connections)`,
      figures.ratioToBare("pass", "json_32"),
      JSON_SHARE,
    ),
    share(
      `b relays at least ${STREAM_SHARE} of a's chunks (streams sent at once)`,
      figures.ratioToBare("pass", "burst"),
      STREAM_SHARE,
    ),
    {
      text: `b adds at most ${FIRST_TOKEN_MS} ms to a's first token at the median`,
      measured: added === null ? null : `${signed(added, 2)} ms`,
      isMet: added === null ? null : added <= FIRST_TOKEN_MS,
    },
  ];
}

function share(text: string, ratio: number | null, min: number): Target {
  return { text, measured: ratio === null ? null : figure(ratio, 2), isMet: ratio === null ? null : ratio >= min };
}
