import { join } from "node:path";
import type { Authenticate } from "../billing/authenticate.ts";
import type { Meter } from "../billing/meter.ts";
import type { LiveStreams } from "../calls/stream_relay.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Config } from "../config/config.ts";
import { createSpool } from "../files/spool.ts";
import type { Route } from "../http/inbound.ts";
import { MAX_MEDIA_REQUEST_VALUES } from "../http/json_body.ts";
import { createImageFinisher } from "../images/finished_image.ts";
import { ImageCalls } from "../images/image_call.ts";
import { createReferenceReader } from "../images/reference_image.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { EgressPolicy } from "../net/target.ts";
import { defaultImageRoutes } from "../protocols/default/images.ts";
import type { CircuitBreaker } from "../routing/circuit_breaker.ts";
import type { Provider } from "../upstreams/provider.ts";
import type { MediaWork } from "../workers/media_work.ts";

/** What the image endpoints share with the rest of an app. */
export interface ImageRouteParts {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly breaker: CircuitBreaker;
  readonly meter: Meter;
  readonly authenticate: Authenticate;
  readonly egress: EgressPolicy;
  readonly media: MediaWork;
  readonly live: LiveStreams;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
}

/** Builds the image endpoints. Uploads that an earlier process left in the files folder are removed first. */
export async function imageRoutes(
  { config, authenticate, egress, media, ...shared }: ImageRouteParts,
): Promise<Route[]> {
  const { imageBodyBytes, editBodyBytes, editFileBytes, bodyIdleMs: idleMs } = config.limits;
  const spool = createSpool(join(config.files, "uploads"));
  await spool.removeLeftovers();
  const readReferences = createReferenceReader(egress, media);
  return defaultImageRoutes({
    images: new ImageCalls({ ...shared, readReferences, finish: createImageFinisher(egress) }),
    catalog: shared.catalog,
    authenticate,
    generationBody: { capBytes: imageBodyBytes, idleMs, maxValues: MAX_MEDIA_REQUEST_VALUES },
    editForm: { body: { capBytes: editBodyBytes, idleMs }, fileBytes: editFileBytes },
    spool,
  });
}
