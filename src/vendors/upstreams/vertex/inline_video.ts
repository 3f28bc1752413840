import type { Outbound, OutboundResponse } from "../call/outbound_call.ts";

/** The member of a finished operation that has the first bytes of a video as base64. */
const MARK = /"bytesBase64Encoded"\s*:\s*"(?!")/;
/** A piece can end within the member's name. */
const MAX_MARK_CHARACTERS = 64;
/** The longest escape in a JSON string: `\u003d`. */
const MAX_ESCAPE_CHARACTERS = 6;

/** The index at which the base64 of a video begins in the text of an operation; -1 if there is none. */
export function startOfInlineVideo(json: string): number {
  const found = MARK.exec(json);
  return found === null ? -1 : found.index + found[0].length;
}

/**
 * Decodes the first video of a finished operation while it arrives, so that its size does not matter.
 *
 * @throws {UpstreamFailure} `broken` if the response has no complete video.
 */
export async function* readInlineVideo(
  response: OutboundResponse,
  outbound: Pick<Outbound, "failure">,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const decoder = new TextDecoder();
  let text = "";
  let isInside = false;
  try {
    for (let piece = await response.read(); piece !== null; piece = await response.read()) {
      text += decoder.decode(piece, { stream: true });
      if (!isInside) {
        const start = startOfInlineVideo(text);
        isInside = start >= 0;
        text = isInside ? text.slice(start) : text.slice(-MAX_MARK_CHARACTERS);
        if (!isInside) continue;
      }
      const end = text.indexOf('"');
      const { data, rest } = end >= 0 ? { data: unescaped(text.slice(0, end)), rest: "" } : wholeGroupsOf(text);
      if (data !== "") yield decoded(data, outbound);
      if (end >= 0) return;
      text = rest;
    }
    throw outbound.failure("broken", "The operation no longer contains a complete video");
  } finally {
    response.cancel();
  }
}

/** The part of a text that can be decoded: without an unfinished escape, and in groups of four. */
function wholeGroupsOf(text: string): { readonly data: string; readonly rest: string } {
  const escape = text.lastIndexOf("\\");
  const cut = escape >= 0 && escape > text.length - MAX_ESCAPE_CHARACTERS ? escape : text.length;
  const data = unescaped(text.slice(0, cut));
  const length = data.length - data.length % 4;
  return { data: data.slice(0, length), rest: data.slice(length) + text.slice(cut) };
}

/** Some writers of JSON escape the characters `/`, `+` and `=`. */
function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replaceAll("\\/", "/")
    .replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
}

function decoded(base64: string, outbound: Pick<Outbound, "failure">): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    throw outbound.failure("broken", "The video is no base64");
  }
}
