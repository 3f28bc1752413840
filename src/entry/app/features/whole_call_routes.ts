import { MAX_INPUT_VALUES } from "../../../platform/http/bodies/json_body.ts";
import type { Route } from "../../../platform/http/request/inbound.ts";
import { contentEmbeddingRoutes } from "../../../protocols/content/embed.ts";
import { defaultEmbeddingRoutes } from "../../../protocols/default/embeddings.ts";
import { defaultModerationRoutes } from "../../../protocols/default/moderations.ts";
import { defaultRerankRoutes } from "../../../protocols/default/rerank.ts";
import { defaultSpeechRoutes } from "../../../protocols/default/speech.ts";
import { defaultTranscriptRoutes } from "../../../protocols/default/transcripts.ts";
import type { WholeCallParts } from "../../../protocols/whole_call_parts.ts";
import type { CallParts } from "../../../services/calls/paid_call.ts";
import type { Services } from "../opening/services.ts";

/** The services of calls whose body is JSON. */
export interface JsonCallServices extends CallParts, Pick<Services, "catalog" | "authenticate"> {
  readonly config: Pick<Services["config"], "limits">;
}

/** The services of all calls that are answered in one piece. */
export interface WholeCallServices extends JsonCallServices, Pick<Services, "files" | "media"> {}

/** Builds the endpoints that answer a request with a body of JSON in one piece, but for images. */
export function buildJsonCallRoutes(services: JsonCallServices): Route[] {
  const parts = partsOf(services);
  return [
    ...defaultEmbeddingRoutes(parts),
    ...contentEmbeddingRoutes(parts),
    ...defaultModerationRoutes(parts),
    ...defaultRerankRoutes(parts),
    ...defaultSpeechRoutes(parts),
  ];
}

/** Builds the endpoints that answer a request in one piece, but for images. */
export function buildWholeCallRoutes(services: WholeCallServices): Route[] {
  const { audioBodyBytes, bodyIdleMs: idleMs } = services.config.limits;
  const audioForm = { body: { capBytes: audioBodyBytes, idleMs }, fileBytes: audioBodyBytes };
  return [
    ...buildJsonCallRoutes(services),
    ...defaultTranscriptRoutes({ ...partsOf(services), calls: services, audioForm, spool: services.files.uploads }),
  ];
}

function partsOf(services: JsonCallServices): WholeCallParts {
  const { config: { limits }, catalog, authenticate } = services;
  const bodyLimits = { capBytes: limits.inputBodyBytes, idleMs: limits.bodyIdleMs, maxValues: MAX_INPUT_VALUES };
  return { calls: services, catalog, authenticate, bodyLimits };
}
