import { OpenStreams } from "../../../services/calls/stream_relay.ts";
import { renderDefaultError } from "../../../protocols/default/error.ts";
import type { KeptReasoning } from "../../../services/texts/memory/reasoning_memory.ts";
import { BoundedMemory, type KeptValues } from "../../../services/texts/memory/bounded_memory.ts";
import type { ConfiguredParts } from "../opening/configured_parts.ts";
import { logStreamFailures } from "../opening/log_stream_failures.ts";
import { createRouter, type Router } from "../routing/router.ts";
import { HandedRequests } from "./handed_requests.ts";
import { LiveEndpoints } from "./live_endpoints.ts";
import type { ServingParts, ServingRole } from "./serving_role.ts";
import { withStoredReplies } from "./thread_replies.ts";
import { threadTexts } from "./thread_routes.ts";

/** A serving thread that is handed requests for texts. Each call is admitted and charged on the main thread. */
export async function openHandedRole({ data, state, post, ownAddresses, clock }: ServingParts): Promise<ServingRole> {
  // The thread of the caller asks for one chunk at a time, so that none waits here unread.
  const openStreams = new OpenStreams(null, false);
  /** What was read of the replies of other gateways. */
  const near = { reasoning: new BoundedMemory<KeptReasoning>(clock), items: new BoundedMemory<string>(clock) };
  const endpoints: LiveEndpoints<Router> = await LiveEndpoints.open(data, { state, ownAddresses, clock, routerOf });
  const requests: HandedRequests = new HandedRequests({ state, endpoints, post });
  logStreamFailures(state.log);

  async function routerOf(parts: ConfiguredParts): Promise<Router> {
    const shared = { config: parts.config, store: state.store, clock };
    const { routes } = threadTexts({
      parts,
      state,
      breaker: state.breaker,
      reasoning: await withStoredReplies(
        state.reasoning as KeptValues<KeptReasoning>,
        { kind: "reasoning", ...shared, near: near.reasoning },
      ),
      items: await withStoredReplies(state.items, { kind: "item", ...shared, near: near.items }),
      openStreams,
      authenticate: () => requests.currentCredential(),
      bodyLimits: { capBytes: Infinity },
    });
    return createRouter(routes, { sections: [], renderError: renderDefaultError });
  }

  return {
    endpoints,
    openStreams,
    guards: {},
    start: () => Promise.resolve(),
    onWaiting: (id) => requests.onWaiting(id),
    take(message) {
      if (message.type === "request") requests.answer(message);
      else if (message.type === "caller-left") requests.leave(message.id);
    },
  };
}
