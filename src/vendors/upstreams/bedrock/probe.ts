import { UpstreamFailure } from "../call/failure.ts";
import type { CredentialProbe } from "../contract/upstream.ts";
import { readRefusal } from "./refusal.ts";

const TIMEOUT_MS = 30_000;

/**
 * Lists the latest asynchronous invocation. A credential without permission for that is valid: signatures and keys are
 * verified first. Source: Amazon Bedrock API reference, "ListAsyncInvokes".
 */
export const probe: CredentialProbe = async (outbound, signal) => {
  try {
    await outbound.json("GET", "/async-invoke?maxResults=1", null, () => {}, {
      callerSignal: () => signal,
      firstByteMs: Math.min(TIMEOUT_MS, outbound.firstByteMs),
      readError: readRefusal,
    });
  } catch (error) {
    if (!(error instanceof UpstreamFailure) || error.kind !== "forbidden") throw error;
    if (error.facts.vendorCode !== "AccessDeniedException") throw error;
  }
};
