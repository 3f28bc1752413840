import type { Outbound } from "./outbound_call.ts";
import type { CredentialProbe } from "./upstream.ts";

const PROBE_MS = 30_000;
/** A list of models of the largest vendors has about 1 MB. */
const PROBE_CAP_BYTES = 4_194_304;

/**
 * A probe that any 2xx of a `GET` passes.
 *
 * @param path Below the provider's base address, with query.
 * @param readResult Throws where the vendor tells a rejected credential in an answer of status 200. Default: nothing is
 * read.
 */
export function probeByGet(
  path: string,
  readAnswer: (answer: unknown, outbound: Outbound) => void = () => {},
): CredentialProbe {
  return (outbound, signal) =>
    outbound.json("GET", path, null, (answer) => readAnswer(answer, outbound), {
      callerSignal: () => signal,
      capBytes: PROBE_CAP_BYTES,
      firstByteMs: Math.min(PROBE_MS, outbound.firstByteMs),
    });
}
