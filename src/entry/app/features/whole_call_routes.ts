import type { Meter } from "../../../money/billing/meter/meter.ts";
import type { Route } from "../../../platform/http/request/inbound.ts";
import { contentEmbeddingRoutes } from "../../../protocols/content/embed.ts";
import { defaultEmbeddingRoutes } from "../../../protocols/default/embeddings.ts";
import { defaultModerationRoutes } from "../../../protocols/default/moderations.ts";
import { defaultRerankRoutes } from "../../../protocols/default/rerank.ts";
import { defaultSpeechRoutes } from "../../../protocols/default/speech.ts";
import { defaultTranscriptRoutes } from "../../../protocols/default/transcripts.ts";
import type { WholeCallParts } from "../../../protocols/whole_call_parts.ts";
import type { Services } from "../opening/services.ts";

/** The services, with any meter. */
export type WholeCallServices = Omit<Services, "meter"> & { readonly meter: Meter };

/** The maximum number of values in a JSON body: the token ids that a vendor accepts in one request. */
const MAX_VALUES = 350_000;

/** Builds the endpoints that answer a request in one piece. */
export function buildWholeCallRoutes(services: WholeCallServices): Route[] {
  const { config: { limits }, catalog, authenticate } = services;
  const bodyLimits = { capBytes: limits.inputBodyBytes, idleMs: limits.bodyIdleMs, maxValues: MAX_VALUES };
  const { audioBodyBytes, bodyIdleMs: idleMs } = limits;
  const audioForm = { body: { capBytes: audioBodyBytes, idleMs }, fileBytes: audioBodyBytes };
  const parts: WholeCallParts = { calls: services, catalog, authenticate, bodyLimits };
  return [
    ...defaultEmbeddingRoutes(parts),
    ...contentEmbeddingRoutes(parts),
    ...defaultModerationRoutes(parts),
    ...defaultRerankRoutes(parts),
    ...defaultSpeechRoutes(parts),
    ...defaultTranscriptRoutes({ ...parts, calls: services, audioForm, spool: services.files.uploads }),
  ];
}
