import type { Figures } from "./contest.ts";
import { figure, signed } from "./markdown.ts";

/** A promise about the gateway beside the bare proxy, and what was found. */
export interface Mark {
  readonly promise: string;
  /** Null when it could not be measured. */
  readonly measured: string | null;
  readonly isMet: boolean | null;
}

const JSON_SHARE = 0.7;
const STREAM_SHARE = 0.8;
const FIRST_TOKEN_MS = 1;

/** What the gateway promises where it passes replies through. */
export function marksOf(figures: Figures): Mark[] {
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
      promise: `b adds at most ${FIRST_TOKEN_MS} ms to a's first token at the median`,
      measured: added === null ? null : `${signed(added, 2)} ms`,
      isMet: added === null ? null : added <= FIRST_TOKEN_MS,
    },
  ];
}

function share(promise: string, ratio: number | null, least: number): Mark {
  return { promise, measured: ratio === null ? null : figure(ratio, 2), isMet: ratio === null ? null : ratio >= least };
}
