/**
 * How far a passed-through stream has got toward its charge.
 *
 * - `relaying`: frames pass. The end marker leads to `ended`, a failure that the vendor reports to `failed`.
 * - `ended`: the format's end marker was seen. The stream is charged in full before the marker is sent, then `settled`.
 * - `failed`: the vendor reported a failure. The stream is charged as cut off, then the report is sent and the stream is
 *   `settled`, even when the charge was lost. An end marker behind the report leads to `ended`.
 * - `unpaid`: a charge could not be made durable, so that the reply must not end as a complete one.
 * - `settled`: nothing more is charged. Final.
 */
export type PassState =
  | { readonly phase: "relaying" | "failed" | "settled" }
  | { readonly phase: "ended" | "unpaid"; readonly hasReport: boolean };

/** The state of a stream of which nothing was read. */
export const RELAYING: PassState = { phase: "relaying" };

/** The state of a stream whose charge is over. */
export const SETTLED: PassState = { phase: "settled" };

/** The state after the format's end marker was read. */
export function onEndMarker(state: PassState): PassState {
  const isOpen = state.phase === "relaying" || state.phase === "failed";
  return isOpen ? { phase: "ended", hasReport: hasReport(state) } : state;
}

/** The state after a failure was read that the vendor reports. */
export function onReport(state: PassState): PassState {
  switch (state.phase) {
    case "relaying":
      return { phase: "failed" };
    case "ended":
    case "unpaid":
      return { ...state, hasReport: true };
    case "failed":
    case "settled":
      return state;
  }
}

/** The state after a charge could not be made durable. */
export function onLostCharge(state: PassState): PassState {
  return state.phase === "settled" ? state : { phase: "unpaid", hasReport: hasReport(state) };
}

/** Whether the caller gets a failure from the vendor itself, so that the gateway must not add another. */
export function hasReport(state: PassState): boolean {
  return state.phase === "failed" || ("hasReport" in state && state.hasReport);
}
