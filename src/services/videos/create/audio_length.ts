import { download, DownloadRefused } from "../../../platform/net/download.ts";
import { EgressError } from "../../../platform/net/egress_error.ts";
import type { EgressPolicy } from "../../../platform/net/target.ts";
import type { MediaWork } from "../../../platform/workers/media_work.ts";

/** Source: docs/api/limits.md#videos. */
export const MAX_AUDIO_SECONDS = 15;

/** Tolerance for the padding that encoders add to the last frame. */
const PADDING_SECONDS = 0.1;

const MAX_AUDIO_BYTES = 20_000_000;
const FETCH_MS = 5_000;

/** Whether a clip exceeds the maximum; false if its length is unknown. */
export function isTooLong(seconds: number | null): boolean {
  return seconds !== null && seconds > MAX_AUDIO_SECONDS + PADDING_SECONDS;
}

/**
 * Returns the length in seconds of the clip at an address; null if it cannot be fetched within five seconds or
 * measured.
 */
export async function audioSecondsAt(
  url: string,
  accountId: string,
  { egress, media, reserve }: {
    readonly egress: EgressPolicy;
    readonly media: MediaWork;
    /** Called before bytes are fetched; throws if they may not be. Default: no limit. */
    readonly reserve?: (bytes: number) => void;
  },
): Promise<number | null> {
  try {
    const options = { maxBytes: MAX_AUDIO_BYTES, timeoutMs: FETCH_MS, reserve };
    const { bytes, mediaType } = await download(url, options, egress);
    return (await media.measureAudio(bytes, mediaType, accountId)).seconds;
  } catch (error) {
    if (error instanceof EgressError || error instanceof DownloadRefused) return null;
    throw error;
  }
}
