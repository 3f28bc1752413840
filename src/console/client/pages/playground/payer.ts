import { signal } from "@preact/signals";
import { session, sessionToken } from "../../session_state.ts";

/** The account that pays for an operator's requests; empty until it is chosen. */
export const payer = signal("");

/** The header fields of a request that the playground sends to an endpoint for callers. */
export function callerFields(): Record<string, string> {
  const asAccount = session.value?.kind === "operator" ? { "x-console-account": payer.value } : {};
  return { "x-console-token": sessionToken(), ...asAccount };
}

/** Whether the session can send requests: an API key can, an operator with an account. */
export function canSend(): boolean {
  return session.value?.kind === "caller" || payer.value !== "";
}
