import { parseBuffer } from "music-metadata";
import { download, DownloadRefused } from "../net/download.ts";
import { EgressError } from "../net/egress_error.ts";
import type { EgressPolicy } from "../net/target.ts";

/** Source: SPEC "Limits". */
export const LONGEST_AUDIO_SECONDS = 15;

/** Encoders fill up their last frame. */
const PADDING_SECONDS = 0.1;

const LARGEST_AUDIO_BYTES = 20_000_000;
const FETCH_MS = 5_000;

/**
 * How long a clip is, in seconds; null when that cannot be told from its bytes.
 *
 * @param mediaType By its first bytes.
 */
export async function audioSeconds(bytes: Uint8Array, mediaType: string): Promise<number | null> {
  try {
    const { format } = await parseBuffer(bytes, { mimeType: mediaType, size: bytes.length }, {
      duration: true,
      skipCovers: true,
    });
    return format.duration !== undefined && Number.isFinite(format.duration) ? format.duration : null;
  } catch {
    return null; // broken or of a kind that the library does not know: the vendor judges it
  }
}

/** Whether a clip is longer than SPEC allows; one that cannot be measured is not. */
export function isTooLong(seconds: number | null): boolean {
  return seconds !== null && seconds > LONGEST_AUDIO_SECONDS + PADDING_SECONDS;
}

/** How long the clip at an address is; null also when it cannot be fetched within five seconds. */
export async function audioSecondsAt(url: string, egress: EgressPolicy): Promise<number | null> {
  try {
    const { bytes, mediaType } = await download(url, { maxBytes: LARGEST_AUDIO_BYTES, timeoutMs: FETCH_MS }, egress);
    return await audioSeconds(bytes, mediaType);
  } catch (error) {
    if (error instanceof EgressError || error instanceof DownloadRefused) return null;
    throw error;
  }
}
