import type {
  Conversation,
  FilePart,
  ImagePart,
  MediaPart,
  Part,
  Source,
  TextPart,
} from "../conversation/conversation.ts";
import { GatewayError, invalidField } from "../lib/gateway_error.ts";

/** Fetches media that a vendor wants in the request instead of at an address. */
export type MediaInliner = (url: string) => Promise<{ readonly mediaType: string; readonly data: string }>;

const MOST_MEDIA = 20;
const MOST_CHARACTERS = 50_000_000;

/**
 * The conversation with every addressed medium fetched that the vendor would not fetch itself: at most 20, and at most
 * 50 million characters of base64 together, more than vendors take in one request.
 *
 * @param mustInline Whether the vendor cannot take a medium as it is.
 * @throws {GatewayError} `invalid_request` naming the turn, when an address cannot be fetched; also when there are too
 * many. `request_too_large` when they are too large together.
 */
export async function withMediaInlined(
  conversation: Conversation,
  mustInline: (part: MediaPart) => boolean,
  inline: MediaInliner,
): Promise<Conversation> {
  const count = conversation.turns.flatMap(({ parts }) => parts.flatMap(mediaOf)).filter(isFetched).length;
  if (count === 0) return conversation;
  if (count > MOST_MEDIA) {
    throw invalidField("url", `expected at most ${MOST_MEDIA} media to fetch for this model's vendor, got ${count}`);
  }
  let characters = 0;
  const turns = [];
  for (const [at, turn] of conversation.turns.entries()) {
    const parts = await Promise.all(turn.parts.map((part) => inlined(part, `turn ${at + 1}`)));
    turns.push({ ...turn, parts });
  }
  return { ...conversation, turns };

  async function inlined(part: Part, where: string): Promise<Part> {
    if (part.kind === "tool_result") {
      const parts = await Promise.all(part.parts.map((inner) => inlined(inner, where)));
      return { ...part, parts: parts as (TextPart | ImagePart | FilePart)[] };
    }
    if (!("source" in part) || !isFetched(part)) return part;
    const source = await fetched(part.source.url, where);
    characters += source.data.length;
    if (characters > MOST_CHARACTERS) {
      throw new GatewayError("request_too_large", "Cannot send the media of the request: they are too large together");
    }
    return { ...part, source };
  }

  function isFetched(part: MediaPart): part is MediaPart & { readonly source: { readonly kind: "url" } } {
    return part.source.kind === "url" && mustInline(part);
  }

  async function fetched(url: string, where: string): Promise<Source & { readonly kind: "base64" }> {
    try {
      return { kind: "base64", ...await inline(url) };
    } catch (cause) {
      const why = cause instanceof GatewayError ? cause.message : "the download failed";
      throw invalidField("url", `a medium in ${where} must be fetched for this model's vendor, and ${why}`, { cause });
    }
  }
}

function mediaOf(part: Part): readonly MediaPart[] {
  if (part.kind === "tool_result") return part.parts.flatMap(mediaOf);
  return "source" in part ? [part] : [];
}
