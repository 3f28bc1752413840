import { handOver } from "../../../threads/serving/handed_reply.ts";
import type { LargeRequests } from "../../../threads/serving/large_requests.ts";
import type { RemoteState } from "../../../threads/state/remote_state.ts";
import type { OpenStreams } from "../../../services/calls/stream_relay.ts";

/**
 * Hands the large requests of an isolate to a thread for such requests, which the main thread chooses. The main thread
 * counts their memory from then on.
 */
export function largeByHandOn(
  state: Pick<RemoteState, "handOn" | "noteRates">,
  openStreams: OpenStreams,
): Pick<LargeRequests, "handle"> {
  return {
    handle(inbound, credential, body, format) {
      inbound.memory.releaseTo(0);
      return handOver({ inbound, credential, body, format }, {
        hand: (request) => state.handOn(request),
        openStreams,
        endsHere: true,
        onRates: (caller, rates) => state.noteRates(caller, rates),
      });
    },
  };
}
