import { LargeRequests } from "../large_requests/large_requests.ts";
import type { ModelLists } from "../routing/model_lists.ts";
import { BoundedMemory } from "../texts/bounded_memory.ts";
import type { KeptReasoning } from "../texts/reasoning_memory.ts";
import type { TextService } from "../texts/text_service.ts";
import { createWebhooks, type Webhooks } from "../webhooks/webhooks.ts";
import { type CacheFeature, createCacheFeature } from "./caches.ts";
import { createConfiguredModelLists } from "./model_lists.ts";
import type { OwnedServices } from "./own.ts";
import { createTextService } from "./text.ts";
import { createVideoFeature, type VideoFeature } from "./videos.ts";

/** The state that changes while the gateway runs. */
export interface GatewayState {
  /** Whether the gateway is shutting down. */
  isDraining: boolean;
  /** The gateway's own address without a final slash; empty until it listens, unless `server.base_url` is set. */
  baseUrl: string;
}

/** The features behind the endpoints. */
export interface Features {
  readonly texts: TextService;
  readonly large: LargeRequests;
  readonly modelLists: ModelLists;
  readonly caches: CacheFeature;
  readonly webhooks: Webhooks;
  readonly videos: VideoFeature;
}

/** Builds the features over the services. None of them starts a job or a thread yet. */
export function createFeatures(services: OwnedServices, state: GatewayState): Features {
  const { config, clock, openStreams, ownAddresses } = services;
  const reasoning = new BoundedMemory<KeptReasoning>(clock);
  const items = new BoundedMemory<string>(clock);
  const texts = createTextService({ ...services, reasoning, items });
  const webhooks = createWebhooks({ ...services, timeoutMs: config.webhooks.timeoutMs });
  const large = new LargeRequests({
    ...services,
    openStreams: openStreams,
    own: ownAddresses,
    entry: new URL("./large_request_thread.ts", import.meta.url),
    reasoning,
    items,
  });
  return {
    texts,
    large,
    modelLists: createConfiguredModelLists(services, (models) => {
      services.catalog.replaceDiscovered(models);
      large.setDiscovered(models);
    }),
    caches: createCacheFeature({ ...services, files: services.files.caches, texts: texts.parts }),
    webhooks,
    videos: createVideoFeature(services, { ...webhooks, baseUrl: () => state.baseUrl }),
  };
}
