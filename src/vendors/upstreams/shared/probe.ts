import type { Outbound } from "../call/outbound_call.ts";
import type { CredentialProbe } from "../contract/upstream.ts";

const PROBE_TIMEOUT_MS = 30_000;
/** The model lists of the largest vendors have about 1 MB. */
const MAX_PROBE_BYTES = 4_194_304;

/**
 * Creates a probe that sends a `GET` and succeeds with any 2xx.
 *
 * @param path Below the provider's base URL, with query.
 * @param readResult Throws if a status 200 response reports a rejected credential. Default: the response is not read.
 */
export function probeByGet(
  path: string,
  readResult: (response: unknown, outbound: Outbound) => void = () => {},
): CredentialProbe {
  return (outbound, signal) =>
    outbound.json("GET", path, null, (response) => readResult(response, outbound), {
      callerSignal: () => signal,
      capBytes: MAX_PROBE_BYTES,
      firstByteMs: Math.min(PROBE_TIMEOUT_MS, outbound.firstByteMs),
    });
}
