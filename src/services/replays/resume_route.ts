import type { Authenticate } from "../../money/billing/authenticate.ts";
import type { DetachedWork } from "../calls/detached_work.ts";
import type { Route } from "../../platform/http/request/inbound.ts";
import { Late } from "../../platform/lib/process/late.ts";
import type { KeptStreams, StreamLimits } from "./kept_streams.ts";
import type { StreamPlaces } from "./stream_places.ts";

const resumableRequest = new Late(() => import("./resumable_request.ts"));

/** The dependencies of routes whose streams can be resumed. */
export interface ResumeRouteOptions {
  /** The streams of this process whose events are kept. */
  readonly keptStreams: Late<KeptStreams>;
  /** Which gateways keep streams; null if no other gateway can be on the store. */
  readonly streamPlaces: Late<StreamPlaces> | null;
  readonly authenticate: Authenticate;
  readonly detached: DetachedWork;
  readonly settings: StreamLimits & { readonly isEnabled: boolean };
}

/**
 * Returns routes whose streams of text can be resumed; other routes are returned unchanged. A request without the
 * header costs a comparison.
 */
export function withResume(routes: readonly Route[], options: ResumeRouteOptions): Route[] {
  if (!options.settings.isEnabled) return [...routes];
  return routes.map((route) => route.isResumable === true ? resumable(route, options) : route);
}

function resumable(route: Route, options: ResumeRouteOptions): Route {
  const { keptStreams, streamPlaces, authenticate, detached, settings: limits } = options;
  const { handler } = route;
  return {
    ...route,
    handler: (inbound) => {
      const { headers = inbound.request.headers } = inbound;
      return headers.get("x-service-resume") === null ? handler(inbound) : (async () => {
        const credential = await authenticate(inbound);
        const { answerResumable } = await resumableRequest.load();
        const places = await streamPlaces?.load() ?? null;
        const streams = await keptStreams.load();
        return await answerResumable(handler, inbound, credential, { streams, limits, places, detached });
      })();
    },
  };
}
