import type { Authenticate } from "../../../money/billing/authenticate.ts";
import type { OpenStreams } from "../../../services/calls/stream_relay.ts";
import type { BodyLimits } from "../../../platform/http/bodies/body.ts";
import type { FileStore } from "../../../platform/files/files.ts";
import type { Route } from "../../../platform/http/request/inbound.ts";
import { systemClock } from "../../../platform/lib/basics/clock.ts";
import type { CircuitBreaker } from "../../../vendors/routing/circuit_breaker.ts";
import type { KeptValues } from "../../../services/texts/memory/bounded_memory.ts";
import type { KeptReasoning } from "../../../services/texts/memory/reasoning_memory.ts";
import type { TextService } from "../../../services/texts/request/text_service.ts";
import type { RemoteState } from "../../../threads/state/remote_state.ts";
import { createCacheFeature } from "../opening/caches.ts";
import type { ConfiguredParts } from "../opening/configured_parts.ts";
import type { InlinedFilesParts } from "../../../services/texts/request/inlined_files.ts";
import { openCacheFiles, openReadFiles } from "../opening/file_stores.ts";
import { createTextService } from "../features/text.ts";
import { createRequestFiles, createTextRoutes } from "../features/text_routes.ts";

/** The parts of {@linkcode threadTexts}. */
export interface ThreadRoutesParts {
  readonly parts: ConfiguredParts;
  /** Money, store and limits of the main thread. */
  readonly state: Pick<RemoteState, "meter" | "slots" | "store" | "log">;
  readonly breaker: CircuitBreaker;
  /** Reasoning of earlier replies, by tool call. */
  readonly reasoning: KeptValues<KeptReasoning>;
  /** Output items that later requests can refer to. */
  readonly items: KeptValues<string>;
  readonly openStreams: OpenStreams;
  readonly authenticate: Authenticate;
  readonly bodyLimits: BodyLimits;
  /** Answers requests that are too large for the thread with their files. Default: none is. */
  readonly elsewhere?: InlinedFilesParts["elsewhere"];
}

/** What a thread has of texts. */
export interface ThreadTexts {
  readonly texts: TextService;
  /** Their endpoints, and those of cached contents, whose bodies are texts. */
  readonly routes: Route[];
  /** The files of callers, which the thread reads. */
  readonly results: FileStore;
}

/** Builds the text endpoints in a thread. */
export function threadTexts(
  { parts, state, breaker, reasoning, items, openStreams, authenticate, bodyLimits, elsewhere = null }:
    ThreadRoutesParts,
): ThreadTexts {
  const { config, catalog, providers, egress } = parts;
  const { meter, slots, store, log } = state;
  const clock = systemClock;
  const texts = createTextService({
    catalog,
    providers,
    breaker,
    slots,
    meter,
    store,
    egress,
    openStreams,
    reasoning,
    items,
    clock,
    log,
    random: Math.random,
  });
  const network = { clock, caCerts: egress.caCertificates, proxies: config.proxies };
  const files = openCacheFiles(config, log, network);
  const { caches, routes } = createCacheFeature({
    config,
    store,
    meter,
    authenticate,
    clock,
    log,
    files,
    texts: texts.parts,
  });
  const results = openReadFiles(config, log, network);
  const requestFiles = createRequestFiles({ config, store, clock, log, files: { results } }, { elsewhere });
  const options = { turns: texts, caches, authenticate, bodyLimits, files: requestFiles };
  return { texts, routes: [...createTextRoutes(options), ...routes], results };
}
