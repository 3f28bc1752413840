/** Types that are served as they are. Everything else is served as bytes, which browsers do not execute. */
const MEDIA_TYPE = /^(video|audio|image)\/(?!svg)[a-z0-9.+-]+$/;

/**
 * The media type under which a file is served.
 *
 * @param mediaType By its content or its server; null if unknown.
 */
export function servedTypeOf(mediaType: string | null): string {
  return mediaType !== null && MEDIA_TYPE.test(mediaType) ? mediaType : "application/octet-stream";
}
