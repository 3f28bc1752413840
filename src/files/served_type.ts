/** What may be served under its own type; all else is served as bytes, which no browser runs. */
const MEDIA_TYPE = /^(video|audio|image)\/(?!svg)[a-z0-9.+-]+$/;

/** The type under which a file is served, given what it is by its bytes or its server; null where that is not known. */
export function servedTypeOf(mediaType: string | null): string {
  return mediaType !== null && MEDIA_TYPE.test(mediaType) ? mediaType : "application/octet-stream";
}
