import { UpstreamFailure } from "../call/failure.ts";
import { probeByGet } from "../shared/probe.ts";
import type { CredentialProbe } from "../contract/upstream.ts";

const byGet = probeByGet("/generations/00000000-0000-0000-0000-000000000000");

/** Requests a generation that does not exist: the vendor's only free request. A valid key gets 404, any other 401. */
export const probeLuma: CredentialProbe = async (outbound, signal) => {
  try {
    return await byGet(outbound, signal);
  } catch (thrown) {
    if (!(thrown instanceof UpstreamFailure) || thrown.facts.status !== 404) throw thrown;
  }
};
