import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import { UNBUFFERED } from "../../platform/http/request/headers.ts";
import type { Inbound } from "../../platform/http/request/inbound.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { TrafficSpan } from "../../observers/metrics/traffic_history.ts";
import { operatorOf } from "./admin_access.ts";
import { type AdminRoute, adminRoute } from "./shared/admin_route.ts";
import type { LivePart, LiveStreams } from "./shared/live_streams.ts";
import { type ReadTraffic, spanIn } from "./traffic.ts";

/** The dependencies of the events of the overview. */
export interface AdminOverviewOptions {
  readonly streams: () => Promise<Pick<LiveStreams, "open">>;
  readonly readTraffic: ReadTraffic;
  /** What `GET /admin/v1/providers` answers. */
  readonly readProviders: () => JsonObject;
  /** Whether the admin key of a request is still valid. */
  readonly isOperator: (inbound: Pick<Inbound, "request">) => Promise<boolean>;
}

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  ...UNBUFFERED,
};

/**
 * `GET /admin/v1/overview/events?span`: the traffic of a span and the state of the providers as they change. Source:
 * docs/api/admin.md#overview-events.
 */
export function adminOverviewRoutes(options: AdminOverviewOptions): AdminRoute[] {
  const { streams, readTraffic, readProviders, isOperator } = options;
  const readParts = sharedReads(async (span) => [trafficPart(await readTraffic(span)), providersPart(readProviders())]);
  return [
    adminRoute(OPERATOR_ENDPOINTS.streamOverview, async (inbound) => {
      const span = spanIn(new URLSearchParams(inbound.query));
      const stream = (await streams()).open(operatorOf(inbound), {
        read: () => readParts(span),
        isAuthorized: () => isOperator(inbound),
      });
      // A stream lasts as long as somebody looks, which says nothing about the speed of the gateway.
      inbound.record.isProbe = true;
      if (inbound.method === "HEAD") await stream.cancel();
      return new Response(inbound.method === "HEAD" ? null : stream, { headers: HEADERS });
    }, { parameters: ["span"] }),
  ];
}

/** Reads for all streams of a span that read at the same time. */
function sharedReads(
  read: (span: TrafficSpan) => Promise<readonly LivePart[]>,
): (span: TrafficSpan) => Promise<readonly LivePart[]> {
  const reading = new Map<TrafficSpan, Promise<readonly LivePart[]>>();
  return (span) => {
    const current = reading.get(span);
    if (current !== undefined) return current;
    const started = read(span).finally(() => reading.delete(span));
    reading.set(span, started);
    return started;
  };
}

/** The end of the step under way is the instant of the read, which is no change. */
function trafficPart(data: JsonObject): LivePart {
  return { event: "traffic", data, version: JSON.stringify(data, (name, value) => name === "to" ? undefined : value) };
}

function providersPart(data: JsonObject): LivePart {
  return { event: "providers", data, version: JSON.stringify(data) };
}
