/**
 * The progress of a passed-through stream towards its charge.
 *
 * - `relaying`: frames pass. The end marker leads to `ended`, a failure that the vendor reports to `failed`.
 * - `ended`: the format's end marker was read. The stream is charged in full before the marker is sent, then `settled`.
 * - `failed`: the vendor reported a failure. The stream is charged as incomplete, then the report is sent and the
 *   stream is `settled`, even if the charge was lost. An end marker after the report leads to `ended`.
 * - `unpaid`: a charge could not be made durable, so the reply must not end as a complete one.
 * - `settled`: nothing more is charged. Final.
 */
export type PassState =
  | { readonly phase: "relaying" | "failed" | "settled" }
  | { readonly phase: "ended" | "unpaid"; readonly hasReport: boolean };

/** The state before anything is read. */
export const RELAYING: PassState = { phase: "relaying" };

/** The state after the stream has been charged. */
export const CHARGED: PassState = { phase: "settled" };

/** Returns the state after the format's end marker. */
export function onEndMarker(state: PassState): PassState {
  const isOpen = state.phase === "relaying" || state.phase === "failed";
  return isOpen ? { phase: "ended", hasReport: hasVendorError(state) } : state;
}

/** Returns the state after a failure that the vendor reports. */
export function onVendorError(state: PassState): PassState {
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

/** Returns the state after a charge that could not be made durable. */
export function onChargeFailed(state: PassState): PassState {
  return state.phase === "settled" ? state : { phase: "unpaid", hasReport: hasVendorError(state) };
}

/** Whether the caller receives a failure report from the vendor itself, so that the gateway must not add another. */
export function hasVendorError(state: PassState): boolean {
  return state.phase === "failed" || ("hasReport" in state && state.hasReport);
}
