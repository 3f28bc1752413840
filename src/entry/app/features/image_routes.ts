import type { Route } from "../../../platform/http/request/inbound.ts";
import type { BodyReader } from "../../../platform/http/bodies/body_reader.ts";
import { MAX_MEDIA_REQUEST_VALUES } from "../../../platform/http/bodies/json_body.ts";
import { createImageFinisher } from "../../../services/images/finished_image.ts";
import { ImageCalls } from "../../../services/images/image_call.ts";
import { createReferenceReader } from "../../../services/images/request/reference_image.ts";
import { defaultImageRoutes } from "../../../protocols/default/images.ts";
import type { CallParts } from "../../../services/calls/paid_call.ts";
import type { RelayParts } from "../../../services/calls/stream_relay.ts";
import type { MediaWork } from "../../../platform/workers/media_work.ts";
import { createReadableFiles } from "../opening/late_stored_files.ts";
import type { Services } from "../opening/services.ts";
import type { Store } from "../../../platform/store/store.ts";

/** What the image endpoints need. */
export interface ImageServices
  extends Omit<CallParts, "openStreams">, RelayParts, Pick<Services, "catalog" | "authenticate" | "egress"> {
  readonly config: Pick<Services["config"], "limits" | "retention">;
  readonly store: Store;
  readonly files: Pick<Services["files"], "uploads" | "results">;
  readonly media: MediaWork;
  /** Reads large bodies. */
  readonly bodies: BodyReader;
}

/** Builds the image endpoints with all that they need. */
export function buildImageRoutes(services: ImageServices): Route[] {
  const { config, files, authenticate, egress, media, bodies, openStreams, ...shared } = services;
  const { imageBodyBytes, editBodyBytes, editFileBytes, largeBodyBytes, bodyIdleMs: idleMs } = config.limits;
  const images = new ImageCalls({
    ...shared,
    openStreams: openStreams,
    readReferences: createReferenceReader({ policy: egress, media, stored: createReadableFiles(services) }),
    finish: createImageFinisher(egress, shared.log),
  });
  return defaultImageRoutes({
    images,
    catalog: shared.catalog,
    authenticate,
    generationBody: { capBytes: imageBodyBytes, idleMs, maxValues: MAX_MEDIA_REQUEST_VALUES },
    bodyThread: { reader: bodies, aboveBytes: largeBodyBytes },
    editForm: { body: { capBytes: editBodyBytes, idleMs }, fileBytes: editFileBytes },
    spool: files.uploads,
  });
}
