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

/**
 * The conversation with every addressed medium fetched that the vendor would not fetch itself.
 *
 * @param mustInline Whether the vendor cannot take a medium as it is.
 * @throws {GatewayError} `invalid_request` naming the turn, when an address cannot be fetched.
 */
export async function withMediaInlined(
  conversation: Conversation,
  mustInline: (part: MediaPart) => boolean,
  inline: MediaInliner,
): Promise<Conversation> {
  if (!conversation.turns.some(({ parts }) => parts.some((part) => mediaOf(part).some(mustInline)))) {
    return conversation;
  }
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
    if (!("source" in part) || part.source.kind !== "url" || !mustInline(part)) return part;
    return { ...part, source: await fetched(part.source.url, where) };
  }

  async function fetched(url: string, where: string): Promise<Source> {
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
