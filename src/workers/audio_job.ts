import { parseFromTokenizer } from "music-metadata";
import { fromBuffer } from "strtok3";

/** Longest time for one clip, in milliseconds. */
export const MAX_AUDIO_PARSE_MS = 2_000;

/**
 * How long a clip is, in seconds; null when its bytes do not say, or not within two seconds of work. A file made for
 * it keeps the library busy for minutes: it looks at every byte of what is no frame.
 *
 * @param mediaType By its first bytes.
 * @param now Milliseconds of any clock.
 */
export async function measureAudioSeconds(
  bytes: Uint8Array,
  mediaType: string,
  now: () => number = () => performance.now(),
): Promise<number | null> {
  const until = now() + MAX_AUDIO_PARSE_MS;
  const tokenizer = fromBuffer(bytes, { fileInfo: { mimeType: mediaType, size: bytes.length } });
  const checked = new Proxy(tokenizer, {
    get(target, name) {
      if (now() > until) throw new RangeError("Cannot measure the clip in time");
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  try {
    const { format } = await parseFromTokenizer(checked, { duration: true, skipCovers: true });
    return format.duration !== undefined && Number.isFinite(format.duration) ? format.duration : null;
  } catch {
    return null; // broken, slow, or of a kind that the library does not know: the vendor judges it
  }
}
