/**
 * The progress of a passed-through stream towards its charge.
 *
 * - `relaying`: frames pass. The end marker leads to `complete`, a failure that the vendor reports to `vendor_failed`.
 * - `complete`: the format's end marker was read. The stream is charged in full before the marker is sent, then
 *   `charged`.
 * - `vendor_failed`: the vendor reported a failure. The stream is charged as incomplete, then the report is sent and
 *   the stream is `charged`, even if the charge was lost. An end marker after the report leads to `complete`.
 * - `charge_failed`: a charge could not be made durable, so the reply must not end as a complete one.
 * - `charged`: nothing more is charged. Final.
 */
export type PassState =
  | { readonly phase: "relaying" | "vendor_failed" | "charged" }
  | { readonly phase: "complete" | "charge_failed"; readonly hasVendorError: boolean };

/** The state before anything is read. */
export const RELAYING: PassState = { phase: "relaying" };

/** The state after the stream has been charged. */
export const CHARGED: PassState = { phase: "charged" };

/** Returns the state after the format's end marker. */
export function onEndMarker(state: PassState): PassState {
  const isOpen = state.phase === "relaying" || state.phase === "vendor_failed";
  return isOpen ? { phase: "complete", hasVendorError: hasVendorError(state) } : state;
}

/** Returns the state after a failure that the vendor reports. */
export function onVendorError(state: PassState): PassState {
  switch (state.phase) {
    case "relaying":
      return { phase: "vendor_failed" };
    case "complete":
    case "charge_failed":
      return { ...state, hasVendorError: true };
    case "vendor_failed":
    case "charged":
      return state;
  }
}

/** Returns the state after a charge that could not be made durable. */
export function onChargeFailed(state: PassState): PassState {
  return state.phase === "charged" ? state : { phase: "charge_failed", hasVendorError: hasVendorError(state) };
}

/** Whether the caller receives a failure report from the vendor itself, so that the gateway must not add another. */
export function hasVendorError(state: PassState): boolean {
  return state.phase === "vendor_failed" || ("hasVendorError" in state && state.hasVendorError);
}
