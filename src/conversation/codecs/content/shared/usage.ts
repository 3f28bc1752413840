import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import {
  checkedCounters,
  mediumTokensOf,
  type OptionalCounter,
  promptTokensOf,
  readCounter,
  readTier,
  type Usage,
  withCounters,
  withImageTokens,
  withTier,
} from "../../../neutral/usage.ts";
import { isObject } from "../../../neutral/wire_value.ts";
import { objectsIn } from "./fields.ts";

const COUNTERS = [
  "promptTokenCount",
  "cachedContentTokenCount",
  "candidatesTokenCount",
  "thoughtsTokenCount",
  "toolUsePromptTokenCount",
];

/**
 * The usage in a reply or one chunk of a stream; null when it has no counter. `promptTokenCount` includes cached
 * tokens, `candidatesTokenCount` excludes reasoning.
 */
export function readUsage(body: unknown): Usage | null {
  const usage = isObject(body) ? body.usageMetadata : null;
  if (!isObject(usage) || !COUNTERS.some((name) => name in usage)) return null;
  const cached = readCounter(usage.cachedContentTokenCount);
  const reasoning = readCounter(usage.thoughtsTokenCount);
  const tokens: Usage = {
    freshTokens: Math.max(0, readCounter(usage.promptTokenCount) - cached),
    cacheReadTokens: cached,
    cacheWrite5mTokens: 0,
    cacheWrite1hTokens: 0,
    toolPromptTokens: readCounter(usage.toolUsePromptTokenCount),
    outputTokens: readCounter(usage.candidatesTokenCount) + reasoning,
    reasoningTokens: reasoning,
  };
  const read = withImageTokens(withCounters(tokens, { ...mediaIn(usage, tokens), ...extrasOf(shownIn(body)) }));
  return withTier(checkedCounters(read, COUNTERS.map((name) => usage[name])), tierIn(usage));
}

/** Tokens by medium on both sides. Source: Gemini API reference, "UsageMetadata", the four `…TokensDetails`. */
function mediaIn(usage: JsonObject, tokens: Usage) {
  if (!DETAILS.some((name) => usage[name] !== undefined)) return {};
  const cacheDetails = Array.isArray(usage.cacheTokensDetails) ? usage.cacheTokensDetails : null;
  const medium = (modality: string) => {
    const prompt = tokensOf(modality, usage.promptTokensDetails) + tokensOf(modality, usage.toolUsePromptTokensDetails);
    return mediumTokensOf(prompt, cacheDetails && tokensOf(modality, cacheDetails), tokens);
  };
  const [audio, image] = [medium("AUDIO"), medium("IMAGE")];
  return {
    audioInputTokens: audio.fresh,
    audioCacheReadTokens: audio.cached,
    imageInputTokens: image.fresh,
    imageCacheReadTokens: image.cached,
    audioOutputTokens: tokensOf("AUDIO", usage.candidatesTokensDetails),
    imageOutputTokens: tokensOf("IMAGE", usage.candidatesTokensDetails),
    videoOutputTokens: tokensOf("VIDEO", usage.candidatesTokensDetails),
  };
}

const DETAILS = ["promptTokensDetails", "toolUsePromptTokensDetails", "candidatesTokensDetails"] as const;

/** Matches a report without prompt tokens, which no request has: it must not replace an earlier one. */
export const COUNTS_NOTHING = /"promptTokenCount"\s*:\s*0\s*[,}]/;

function tokensOf(modality: string, details: unknown): number {
  return objectsIn(details).reduce(
    (sum, detail) => detail.modality === modality ? sum + readCounter(detail.tokenCount) : sum,
    0,
  );
}

/** The tier that served the request: `serviceTier` in the Gemini API, `ON_DEMAND_…` in Vertex AI. */
function tierIn({ serviceTier, trafficType }: JsonObject): string | null {
  const traffic = typeof trafficType === "string" ? /^ON_DEMAND_(\w+)$/.exec(trafficType)?.[1] : null;
  return readTier(serviceTier) ?? readTier(traffic);
}

/** Billable content of a reply that its usage does not count. */
export interface Shown {
  /**
   * The distinct queries of the vendor's web searches. Each is billed as one search with the vendor's current models. A
   * reply with web grounding but without queries counts as one, the empty one. Null before the first.
   */
  queries: Set<string> | null;
  /** Whether a map was searched, which the reply does not count. */
  hasMaps: boolean;
  images: number;
}

/** No content. */
export function newShown(): Shown {
  return { queries: null, hasMaps: false, images: 0 };
}

/** Adds the billable content of a reply or one chunk of it. */
export function noteShown(shown: Shown, body: unknown): void {
  for (const { groundingMetadata: grounding, content } of objectsIn(isObject(body) ? body.candidates : null)) {
    shown.images += objectsIn(isObject(content) ? content.parts : null).filter(isImage).length;
    if (!isObject(grounding)) continue;
    const named = [grounding.webSearchQueries, grounding.imageSearchQueries].filter(Array.isArray).flat();
    shown.hasMaps ||= objectsIn(grounding.groundingChunks).some(({ maps }) => isObject(maps));
    const queries = named.filter((query) => typeof query === "string" && query !== "");
    const isGrounded = objectsIn(grounding.groundingChunks).some(({ web }) => isObject(web));
    if (isGrounded && queries.length === 0) queries.push("");
    for (const query of queries) (shown.queries ??= new Set<string>()).add(query);
  }
}

/** The same as counters. */
export function extrasOf({ queries, hasMaps, images }: Shown) {
  const others = { mapSearches: hasMaps ? 1 : 0, imagesMade: images };
  if (queries === null) return { webSearches: 0, ...others };
  const unnamed = queries.size > 1 && queries.has("") ? 1 : 0;
  return { webSearches: queries.size - unnamed, ...others };
}

function shownIn(body: unknown): Shown {
  const shown = newShown();
  noteShown(shown, body);
  return shown;
}

/** Drafts are marked as thoughts: they are no result, and image endpoints do not return them. */
function isImage({ inlineData, thought }: JsonObject): boolean {
  return thought !== true && isObject(inlineData) && typeof inlineData.mimeType === "string" &&
    inlineData.mimeType.startsWith("image/");
}

/** Writes `usageMetadata`. Cache writes count as prompt tokens, because this format has no counter for them. */
export function writeUsage(usage: Usage): JsonObject {
  const reasoning = Math.min(usage.reasoningTokens, usage.outputTokens);
  const written: JsonObject = {
    promptTokenCount: promptTokensOf(usage) - usage.toolPromptTokens,
    candidatesTokenCount: usage.outputTokens - reasoning,
    totalTokenCount: promptTokensOf(usage) + usage.outputTokens,
  };
  // Zero counters are left out, as the vendor does.
  if (usage.cacheReadTokens > 0) written.cachedContentTokenCount = usage.cacheReadTokens;
  if (reasoning > 0) written.thoughtsTokenCount = reasoning;
  if (usage.toolPromptTokens > 0) written.toolUsePromptTokenCount = usage.toolPromptTokens;
  return { ...written, ...writeDetails(usage) };
}

/** The details by modality, if a medium has tokens; the rest of each side counts as text. */
function writeDetails(usage: Usage): JsonObject {
  if (!MEDIA_COUNTERS.some((name) => usage[name] !== undefined)) return {};
  const { audioCacheReadTokens: cachedAudio = 0, imageCacheReadTokens: cachedImages = 0 } = usage;
  const details = {
    promptTokensDetails: detailsOf(promptTokensOf(usage) - usage.toolPromptTokens, {
      AUDIO: (usage.audioInputTokens ?? 0) + cachedAudio,
      IMAGE: (usage.imageInputTokens ?? 0) + cachedImages,
    }),
    cacheTokensDetails: detailsOf(usage.cacheReadTokens, { AUDIO: cachedAudio, IMAGE: cachedImages }),
    candidatesTokensDetails: detailsOf(usage.outputTokens - Math.min(usage.reasoningTokens, usage.outputTokens), {
      AUDIO: usage.audioOutputTokens ?? 0,
      IMAGE: usage.imageOutputTokens ?? 0,
      VIDEO: usage.videoOutputTokens ?? 0,
    }),
  };
  return Object.fromEntries(Object.entries(details).filter(([, list]) => list.length > 0));
}

const MEDIA_COUNTERS = [
  "audioInputTokens",
  "audioCacheReadTokens",
  "imageInputTokens",
  "imageCacheReadTokens",
  "audioOutputTokens",
  "imageOutputTokens",
  "videoOutputTokens",
] as const satisfies readonly OptionalCounter[];

function detailsOf(total: number, media: Readonly<Record<string, number>>): JsonObject[] {
  const counted = Object.entries(media).filter(([, tokenCount]) => tokenCount > 0);
  if (counted.length === 0) return [];
  const text = Math.max(0, total - counted.reduce((sum, [, tokenCount]) => sum + tokenCount, 0));
  return [["TEXT", text] as const, ...counted].map(([modality, tokenCount]) => ({ modality, tokenCount }));
}
