import type { JsonObject } from "../../../../lib/json_object.ts";
import {
  checkedCounters,
  mediumTokensOf,
  promptTokensOf,
  readCounter,
  readTier,
  type Usage,
  withCounters,
  withTier,
} from "../../../usage.ts";
import { isObject } from "../../../wire_value.ts";
import { objectsIn } from "./fields.ts";

const COUNTERS = [
  "promptTokenCount",
  "cachedContentTokenCount",
  "candidatesTokenCount",
  "thoughtsTokenCount",
  "toolUsePromptTokenCount",
];

/**
 * The usage that a reply, or one chunk of a stream, reports: `promptTokenCount` includes what came from a cache, while
 * `candidatesTokenCount` leaves out thoughts. Null when no counter is there.
 */
export function readUsage(body: unknown): Usage | null {
  const usage = isObject(body) ? body.usageMetadata : null;
  if (!isObject(usage) || !COUNTERS.some((name) => name in usage)) return null;
  const cached = readCounter(usage.cachedContentTokenCount);
  const thoughts = readCounter(usage.thoughtsTokenCount);
  const tokens: Usage = {
    freshTokens: Math.max(0, readCounter(usage.promptTokenCount) - cached),
    cacheReadTokens: cached,
    cacheWrite5mTokens: 0,
    cacheWrite1hTokens: 0,
    toolPromptTokens: readCounter(usage.toolUsePromptTokenCount),
    outputTokens: readCounter(usage.candidatesTokenCount) + thoughts,
    reasoningTokens: thoughts,
  };
  const read = withCounters(tokens, { ...mediaIn(usage, tokens), ...extrasOf(shownIn(body)) });
  return withTier(checkedCounters(read, COUNTERS.map((name) => usage[name])), tierIn(usage));
}

/** What media took of both sides. Source: Gemini API reference, "UsageMetadata", the four `…TokensDetails`. */
function mediaIn(usage: JsonObject, tokens: Usage) {
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

/** A report of nothing, which no request can consume: it must not replace an earlier one. */
export const COUNTS_NOTHING = /"promptTokenCount"\s*:\s*0\s*[,}]/;

function tokensOf(modality: string, details: unknown): number {
  return objectsIn(details).reduce(
    (sum, detail) => detail.modality === modality ? sum + readCounter(detail.tokenCount) : sum,
    0,
  );
}

/** The tier that served the request: the Gemini API names it, Vertex AI has it behind `ON_DEMAND_`. */
function tierIn({ serviceTier, trafficType }: JsonObject): string | null {
  const traffic = typeof trafficType === "string" ? /^ON_DEMAND_(\w+)$/.exec(trafficType)?.[1] : null;
  return readTier(serviceTier) ?? readTier(traffic);
}

/** What a reply shows without counting it in its usage. */
export interface Shown {
  /**
   * The different queries that the vendor searched the web for. Each one is a search, as the vendor bills its current
   * models. A reply that is grounded in the web and names no query had one, the empty one.
   */
  readonly queries: Set<string>;
  images: number;
}

/** Nothing shown yet. */
export function newShown(): Shown {
  return { queries: new Set(), images: 0 };
}

/** Notes what a reply, or one chunk of it, shows. */
export function noteShown(shown: Shown, body: unknown): void {
  for (const { groundingMetadata: grounding, content } of objectsIn(isObject(body) ? body.candidates : null)) {
    shown.images += objectsIn(isObject(content) ? content.parts : null).filter(isImage).length;
    if (!isObject(grounding)) continue;
    const named = Array.isArray(grounding.webSearchQueries) ? grounding.webSearchQueries : [];
    const asked = named.filter((query) => typeof query === "string" && query !== "");
    for (const query of asked) shown.queries.add(query);
    const isGrounded = objectsIn(grounding.groundingChunks).some(({ web }) => isObject(web));
    if (isGrounded && asked.length === 0) shown.queries.add("");
  }
}

/** The same as counters. */
export function extrasOf({ queries, images }: Shown) {
  const unnamed = queries.size > 1 && queries.has("") ? 1 : 0;
  return { webSearches: queries.size - unnamed, imagesMade: images };
}

function shownIn(body: unknown): Shown {
  const shown = newShown();
  noteShown(shown, body);
  return shown;
}

function isImage({ inlineData }: JsonObject): boolean {
  return isObject(inlineData) && typeof inlineData.mimeType === "string" && inlineData.mimeType.startsWith("image/");
}

/** `usageMetadata`; what was written to a cache counts as prompt, as this form has no word for it. */
export function writeUsage(usage: Usage): JsonObject {
  const thoughts = Math.min(usage.reasoningTokens, usage.outputTokens);
  const written: JsonObject = {
    promptTokenCount: promptTokensOf(usage) - usage.toolPromptTokens,
    candidatesTokenCount: usage.outputTokens - thoughts,
    totalTokenCount: promptTokensOf(usage) + usage.outputTokens,
  };
  // Counters of nothing are left out, as the vendor does.
  if (usage.cacheReadTokens > 0) written.cachedContentTokenCount = usage.cacheReadTokens;
  if (thoughts > 0) written.thoughtsTokenCount = thoughts;
  if (usage.toolPromptTokens > 0) written.toolUsePromptTokenCount = usage.toolPromptTokens;
  return { ...written, ...writeDetails(usage) };
}

/** The details by modality, where a medium took some; the rest of each side counts as text. */
function writeDetails(usage: Usage): JsonObject {
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

function detailsOf(total: number, media: Readonly<Record<string, number>>): JsonObject[] {
  const told = Object.entries(media).filter(([, tokenCount]) => tokenCount > 0);
  if (told.length === 0) return [];
  const text = Math.max(0, total - told.reduce((sum, [, tokenCount]) => sum + tokenCount, 0));
  return [["TEXT", text] as const, ...told].map(([modality, tokenCount]) => ({ modality, tokenCount }));
}
