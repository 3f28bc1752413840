import type { Config } from "../../../config/config.ts";
import { LargeRequests } from "../../../threads/serving/large_requests.ts";
import { holdState } from "../../../platform/lib/basics/held.ts";
import { Late } from "../../../platform/lib/process/late.ts";
import { threadModule } from "../../../platform/lib/process/program_files.ts";
import { createHttpClient } from "../../../platform/net/http1/client.ts";
import type { KeptStreams } from "../../../services/replays/kept_streams.ts";
import type { StreamPlaces } from "../../../services/replays/stream_places.ts";
import { noteOtherAnswer } from "../../../services/texts/relay/answering_model.ts";
import { BoundedMemory, type KeptValues } from "../../../services/texts/memory/bounded_memory.ts";
import type { KeptReasoning } from "../../../services/texts/memory/reasoning_memory.ts";
import type { TextService } from "../../../services/texts/request/text_service.ts";
import type { TestReceivers } from "../../../services/webhooks/test_receivers.ts";
import { createWebhooks, type Webhooks } from "../../../services/webhooks/webhooks.ts";
import type { BatchFeature, BatchFeatureOptions } from "./batches.ts";
import { type CacheFeature, createCacheFeature } from "../opening/caches.ts";
import type { ConfiguredParts } from "../opening/configured_parts.ts";
import { ConsoleState } from "./console.ts";
import type { OwnedServices } from "../opening/own.ts";
import { createTextService } from "./text.ts";
import { createVideoFeature, type VideoFeature } from "./videos.ts";

/** The state that changes while the gateway runs. */
export interface GatewayState {
  /** Whether the gateway is shutting down. */
  isDraining: boolean;
  /** The gateway's own address without a final slash; empty until it listens, unless `server.base_url` is set. */
  baseUrl: string;
  /** Where other gateways on the store reach this one, without a final slash; null if that is unknown. */
  peerUrl: string | null;
}

/** The features that last as long as the process: they have jobs, threads, or state of callers. */
export interface LastingFeatures {
  readonly large: LargeRequests;
  readonly webhooks: Webhooks;
  /** Receivers of webhooks that operators have opened. */
  readonly receivers: Late<TestReceivers>;
  readonly videos: VideoFeature;
  readonly batches: Late<BatchFeature>;
  readonly console: ConsoleState;
  /** Reasoning of earlier replies, by tool call. */
  readonly reasoning: KeptValues<KeptReasoning>;
  /** Output items that later requests can refer to. */
  readonly items: KeptValues<string>;
  /** The streams whose events are kept. */
  readonly keptStreams: Late<KeptStreams>;
  /** Which gateways keep streams; null if no other gateway can be on the store. */
  readonly streamPlaces: Late<StreamPlaces> | null;
  /** Removes the reasoning, the items and the streams of an account, and returns the number. */
  forgetReplies(account: string): number;
  /** Writes what is kept of replies for other processes, for the end of this one. Never rejects. */
  storeReplies(): Promise<void>;
}

/** The features behind the endpoints. Those that do not last belong to one configuration. */
export interface Features extends LastingFeatures {
  readonly texts: TextService;
  readonly caches: CacheFeature;
}

/** What batches use of the active configuration. */
type BatchGeneration = ReturnType<BatchFeatureOptions["current"]>;

/**
 * Builds the lasting features over the services. None of them starts a job or a thread yet.
 *
 * @param generation Gives the services and the features of the active configuration; null while the first are built.
 */
export function createLastingFeatures(
  services: OwnedServices,
  state: GatewayState,
  generation: () => BatchGeneration | null,
): LastingFeatures {
  const current = (): ConfiguredParts => generation()?.services ?? services;
  const { clock, openStreams, ownAddresses } = services;
  const config = (): Config => current().config;
  const { StoredReplies } = services;
  const shared = StoredReplies === null ? null : {
    reasoning: new StoredReplies<KeptReasoning>({ ...services, kind: "reasoning" }),
    items: new StoredReplies<string>({ ...services, kind: "item" }),
  };
  const reasoning = shared?.reasoning ?? new BoundedMemory<KeptReasoning>(clock);
  const items = shared?.items ?? new BoundedMemory<string>(clock);
  const egress = {
    get allow() {
      return current().egress.allow;
    },
    get caCertificates() {
      return current().egress.caCertificates;
    },
    own: ownAddresses,
    clock,
  };
  const receivers = new Late(async () => {
    const { TestReceivers } = await import("../../../services/webhooks/test_receivers.ts");
    return new TestReceivers({ store: services.store, clock, baseUrl: () => state.baseUrl });
  });
  const webhooks = createWebhooks({
    ...services,
    egress,
    receivers,
    timeoutMs: config().webhooks.timeoutMs,
  });
  const large = new LargeRequests({
    ...services,
    openStreams: openStreams,
    own: ownAddresses,
    entry: threadModule("entry/app/threads/serving_thread"),
    onThreadAnswer: (answer) => holdState(noteOtherAnswer(answer, { ...current(), clock }), "a model that answers"),
    reasoning,
    items,
  });
  const isTestReceiver = (url: string) => receivers.loaded !== null && receivers.loaded.idAt(url) !== null;
  const videos = createVideoFeature({ ...services, egress }, {
    ...webhooks,
    isTestReceiver,
    baseUrl: () => state.baseUrl,
    current,
  });
  const inForce = (): BatchGeneration => {
    const found = generation();
    if (found === null) throw new Error("No configuration is active yet");
    return found;
  };
  const batches = new Late(async () => {
    const { createBatchFeature } = await import("./batches.ts");
    return createBatchFeature(services, {
      current: inForce,
      videos: videos.videos,
      baseUrl: () => state.baseUrl,
      egress,
      isTestReceiver,
      webhooks,
    });
  });
  const { store, log } = services;
  const client = createHttpClient({ clock, caCerts: egress.caCertificates });
  const placeParts = { store, clock, log, client, ownUrl: () => state.peerUrl };
  const streamPlaces = store.gateways === undefined
    ? null
    : new Late(async () => new (await import("../../../services/replays/stream_places.ts")).StreamPlaces(placeParts));
  const keptStreams = new Late(async () =>
    new (await import("../../../services/replays/kept_streams.ts")).KeptStreams(clock)
  );
  const forgetReplies = (account: string) => {
    services.onRepliesForgotten.forEach((listener) => listener(account));
    const streams = keptStreams.loaded?.removeAccount(account) ?? 0;
    return reasoning.removeAccount(account) + items.removeAccount(account) + streams;
  };
  const console = new ConsoleState(clock, services.counts.requests, { store, log });
  const storeReplies = async () => {
    await Promise.all([shared?.reasoning.close(), shared?.items.close()]);
  };
  const kept = { reasoning, items, keptStreams, streamPlaces, forgetReplies, storeReplies };
  return { ...kept, webhooks, receivers, large, videos, batches, console };
}

/** Builds the features of one configuration. */
export function createFeatures(services: OwnedServices, lasting: LastingFeatures): Features {
  const { reasoning, items } = lasting;
  const texts = createTextService({ ...services, reasoning, items });
  const caches = createCacheFeature({ ...services, files: services.files.caches, texts: texts.parts });
  return { ...lasting, texts, caches };
}
