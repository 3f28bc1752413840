import { parseFromTokenizer } from "music-metadata";
import { fromBuffer } from "strtok3";

/** The time limit for one clip. */
export const MAX_AUDIO_PARSE_MS = 2_000;

/**
 * Measures a clip in seconds. Returns null if its bytes do not state the length, or not within two seconds of work. A
 * crafted file can keep the library busy for minutes, since it visits every byte that is not a frame.
 *
 * @param mediaType The type by its first bytes.
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
      if (now() > until) throw new RangeError("Cannot determine the length of the clip: the time limit was reached");
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  try {
    const { format } = await parseFromTokenizer(checked, { duration: true, skipCovers: true });
    return format.duration !== undefined && Number.isFinite(format.duration) ? format.duration : null;
  } catch {
    return null; // broken, slow or unsupported by the library: the vendor decides
  }
}
