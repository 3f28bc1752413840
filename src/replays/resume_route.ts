import type { Authenticate } from "../billing/authenticate.ts";
import type { DetachedWork } from "../calls/detached_work.ts";
import type { Route } from "../http/inbound.ts";
import type { Clock } from "../lib/clock.ts";
import type { KeptStreams, StreamLimits } from "./kept_streams.ts";
import type { StreamPlaces, StreamPlacesParts } from "./stream_places.ts";

/** The streams of this process whose events are kept. Their code is loaded by the first one. */
export class StreamHolder {
  #streams: Promise<KeptStreams> | null = null;
  #loaded: KeptStreams | null = null;
  #places: Promise<StreamPlaces> | null = null;

  /** @param places Null if no other gateway can be on the store. */
  constructor(private readonly clock: Clock, private readonly places: StreamPlacesParts | null) {}

  /** Returns the streams. */
  load(): Promise<KeptStreams> {
    return this.#streams ??= import("./kept_streams.ts").then(({ KeptStreams }) =>
      this.#loaded = new KeptStreams(this.clock)
    );
  }

  /** Returns which gateways keep streams; null if no other gateway can be on the store. */
  loadPlaces(): Promise<StreamPlaces> | null {
    const { places } = this;
    if (places === null) return null;
    return this.#places ??= import("./stream_places.ts").then(({ StreamPlaces }) => new StreamPlaces(places));
  }

  /** Removes all streams of an account. Returns their number. */
  removeAccount(accountId: string): number {
    return this.#loaded?.removeAccount(accountId) ?? 0;
  }
}

/** The dependencies of routes whose streams can be resumed. */
export interface ResumeRouteOptions {
  readonly holder: StreamHolder;
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

function resumable(route: Route, { holder, authenticate, detached, settings: limits }: ResumeRouteOptions): Route {
  const { handler } = route;
  return {
    ...route,
    handler: (inbound) => {
      const { headers = inbound.request.headers } = inbound;
      return headers.get("x-service-resume") === null ? handler(inbound) : (async () => {
        const credential = await authenticate(inbound);
        const { answerResumable } = await import("./resumable_request.ts");
        const places = await holder.loadPlaces();
        const streams = await holder.load();
        return await answerResumable(handler, inbound, credential, { streams, limits, places, detached });
      })();
    },
  };
}
