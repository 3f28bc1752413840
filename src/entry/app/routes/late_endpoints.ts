import { CALLER_ENDPOINTS as ENDPOINTS } from "../../../platform/endpoints/callers.ts";
import type { Endpoint } from "../../../platform/endpoints/endpoint.ts";
import { DOCUMENTATION_ENDPOINTS } from "../../../platform/endpoints/service.ts";
import type { Route } from "../../../platform/http/request/inbound.ts";
import { Late } from "../../../platform/lib/process/late.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import { lazyRoutesAt, routesAt } from "../../../protocols/route_at.ts";
import type { Features } from "../features/features.ts";
import type { ImageServices } from "../features/image_routes.ts";
import type { JsonCallServices } from "../features/whole_call_routes.ts";
import type { OwnedServices } from "../opening/own.ts";

/** What the code of endpoints for callers is given. */
export interface LateEndpointParts {
  readonly services: OwnedServices;
  readonly features: Pick<Features, "receivers" | "keptStreams" | "streamPlaces" | "batches">;
  /** Gives the gateway's own address without a final slash. */
  readonly baseUrl: () => string;
}

/** The endpoints that answer a body of JSON in one piece, but for images. Every thread that serves has them. */
const JSON_CALLS = [
  ENDPOINTS.createEmbeddings,
  ENDPOINTS.embedContent,
  ENDPOINTS.batchEmbedContents,
  ENDPOINTS.createModeration,
  ENDPOINTS.rerank,
  ENDPOINTS.createSpeech,
];

/** All endpoints that are answered in one piece, but for images. */
const WHOLE_CALLS = [...JSON_CALLS, ENDPOINTS.createTranscription, ENDPOINTS.createTranslation];

const IMAGES = [ENDPOINTS.createImages, ENDPOINTS.editImages];

const imageModule = new Late(() => import("../features/image_routes.ts"));
const wholeCallModule = new Late(() => import("../features/whole_call_routes.ts"));

/** The endpoints of files that callers of every protocol store. */
const STORED_FILES = [
  ENDPOINTS.createFile,
  ENDPOINTS.listFiles,
  ENDPOINTS.readStoredFile,
  ENDPOINTS.readFileContent,
  ENDPOINTS.deleteFile,
  ENDPOINTS.createUpload,
  ENDPOINTS.addUploadPart,
  ENDPOINTS.completeUpload,
  ENDPOINTS.cancelUpload,
  ENDPOINTS.createMessageFile,
  ENDPOINTS.listMessageFiles,
  ENDPOINTS.readMessageFile,
  ENDPOINTS.readMessageFileContent,
  ENDPOINTS.deleteMessageFile,
  ENDPOINTS.uploadContentFile,
  ENDPOINTS.listContentFiles,
  ENDPOINTS.readContentFile,
  ENDPOINTS.downloadContentFile,
  ENDPOINTS.deleteContentFile,
];

/** The endpoints of batches of every protocol. */
const BATCHES = [
  ENDPOINTS.createBatch,
  ENDPOINTS.listBatches,
  ENDPOINTS.readBatch,
  ENDPOINTS.cancelBatch,
  ENDPOINTS.createMessageBatch,
  ENDPOINTS.listMessageBatches,
  ENDPOINTS.readMessageBatch,
  ENDPOINTS.readMessageBatchResults,
  ENDPOINTS.cancelMessageBatch,
  ENDPOINTS.deleteMessageBatch,
  ENDPOINTS.createContentBatch,
  ENDPOINTS.createEmbedBatch,
  ENDPOINTS.listContentBatches,
  ENDPOINTS.readContentBatch,
  ENDPOINTS.cancelContentBatch,
  ENDPOINTS.deleteContentBatch,
  ENDPOINTS.listOwnBatches,
  ENDPOINTS.readOwnBatch,
  ENDPOINTS.cancelOwnBatch,
];

/** Endpoints for callers, each group with the code that the first request to one of them loads. */
const GROUPS = [
  group(
    IMAGES,
    imageModule,
    ({ buildImageRoutes }, { services }) => buildImageRoutes(services),
  ),
  group(
    WHOLE_CALLS,
    wholeCallModule,
    ({ buildWholeCallRoutes }, { services }) => buildWholeCallRoutes(services),
  ),
  group(
    [ENDPOINTS.receiveWebhook],
    new Late(() => import("../../../protocols/default/webhook_receiver.ts")),
    async ({ webhookReceiverRoutes }, { services: { config }, features: { receivers } }) =>
      webhookReceiverRoutes({ receivers: await receivers.load(), bodyIdleMs: config.limits.bodyIdleMs }),
  ),
  group(
    STORED_FILES,
    new Late(() => import("../opening/stored_file_routes.ts")),
    ({ buildStoredFileRoutes }, { services, baseUrl }) => buildStoredFileRoutes(services, baseUrl),
  ),
  group(
    BATCHES,
    new Late(() => import("./batch_routes.ts")),
    async ({ buildBatchRoutes }, { services, features, baseUrl }) =>
      buildBatchRoutes(services, (await features.batches.load()).batches, baseUrl),
  ),
  group(
    [ENDPOINTS.readOwnUsage],
    new Late(() => import("../../../protocols/default/usage.ts")),
    ({ usageRoutes }, { services }) => usageRoutes(services),
  ),
  group(
    [ENDPOINTS.listOwnRequests, ENDPOINTS.readOwnRequest],
    new Late(() => import("../../../protocols/default/requests.ts")),
    ({ ownRequestRoutes }, { services: { authenticate, requestLog } }) =>
      ownRequestRoutes({ authenticate, requests: requestLog }),
  ),
  group(
    [ENDPOINTS.resumeStream],
    new Late(() => import("../../../services/replays/stream_route.ts")),
    async ({ streamHandler }, { services: { authenticate, catalog }, features: { keptStreams, streamPlaces } }) => {
      const [streams, places] = await Promise.all([keptStreams.load(), streamPlaces?.load() ?? null]);
      return routesAt(ENDPOINTS.resumeStream, streamHandler({ authenticate, streams, catalog, places }));
    },
  ),
  group(
    [ENDPOINTS.readOwnKey, ENDPOINTS.readOwnCredits],
    new Late(() => import("../../../protocols/default/key.ts")),
    ({ keyRoutes }, { services }) => keyRoutes(services),
  ),
  group(
    Object.values(DOCUMENTATION_ENDPOINTS),
    new Late(() => import("./documentation.ts")),
    ({ createDocumentationRoutes }, { baseUrl }) => createDocumentationRoutes(baseUrl),
  ),
];

/** The routes of endpoints for callers whose code few gateways need. */
export function lateCallerRoutes(parts: LateEndpointParts): Route[] {
  return GROUPS.flatMap((routesOf) => routesOf(parts));
}

/**
 * The routes that every thread that serves has besides those of texts and catalogs: images, and calls with a body of
 * JSON that are answered in one piece. The first request loads their code.
 */
export function lateThreadRoutes(services: JsonCallServices & ImageServices): Route[] {
  return [
    ...lazyRoutesAt(IMAGES, async () => (await imageModule.load()).buildImageRoutes(services)),
    ...lazyRoutesAt(JSON_CALLS, async () => (await wholeCallModule.load()).buildJsonCallRoutes(services)),
  ];
}

function group<Code>(
  endpoints: readonly Endpoint[],
  code: Late<Code>,
  routes: (code: Code, parts: LateEndpointParts) => MaybePromise<readonly Route[]>,
): (parts: LateEndpointParts) => Route[] {
  return (parts) => lazyRoutesAt(endpoints, async () => await routes(await code.load(), parts));
}
