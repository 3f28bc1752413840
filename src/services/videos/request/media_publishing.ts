import type { FileStore } from "../../../platform/files/files.ts";
import { signedUrl } from "../../../platform/files/signed_url.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { DEFAULT_IMAGE_TYPES, mediaTypeOf } from "../../../platform/lib/media/media_type.ts";
import type { HeldMemory } from "../../../platform/lib/process/memory_budget.ts";
import { download, DownloadRefused } from "../../../platform/net/download.ts";
import { EgressError } from "../../../platform/net/egress_error.ts";
import { checkTargetUrl } from "../../../platform/net/target.ts";
import { base64Of, dataUriOf, type InlineSource } from "../../../vendors/upstreams/contract/inline_file.ts";
import type { MediaForms, VideoMedia } from "../../../vendors/upstreams/contract/video_upstream.ts";
import type { Medium } from "../../../vendors/video_mode.ts";
import type { TaskMedia } from "../tasks/task.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/** Maximum size of a medium that is fetched for a vendor that requires bytes, or that a stored file has. */
export const MAX_MEDIA_BYTES: Readonly<Record<Medium, number>> = {
  image: 30_000_000,
  audio: 20_000_000,
  video: 50_000_000,
};
/** Maximum size of media sent inline to a vendor that could also fetch them. */
const INLINE_BYTES = 10_000_000;
const FETCH_MS = 60_000;

/**
 * Returns the form in which a vendor gets a medium; null if there is none, or if it takes no images of the type. A
 * caller's address is sent unchanged if the
 * vendor fetches addresses; otherwise its bytes are sent. A stored file is sent as bytes if the vendor accepts them,
 * because the gateway then need not be reachable. Otherwise a signed address is sent, if the gateway is publicly
 * reachable.
 */
export function formFor(
  media: TaskMedia,
  forms: MediaForms,
  isPublic: boolean,
): VideoMedia["form"] | null {
  if (media.at === "file" && !isTakenType(media.medium, media.mediaType, forms)) return null;
  const taken = forms[media.medium];
  const inline = taken.find((form) => form !== "url") ?? null;
  if (media.at === "url") return taken.includes("url") ? "url" : inline;
  const asUrl = taken.includes("url") && isPublic ? "url" : null;
  return media.bytes <= INLINE_BYTES ? inline ?? asUrl : asUrl ?? inline;
}

/** Whether a vendor accepts a medium of this type. Only types of images are known. */
function isTakenType(medium: Medium, mediaType: string, { imageTypes = DEFAULT_IMAGE_TYPES }: MediaForms): boolean {
  return medium !== "image" || imageTypes.includes(mediaType);
}

/** Whether an external vendor can fetch from the gateway: https, and no private address or local name. */
export function isPublicBase({ baseUrl, egress }: Pick<VideoParts, "baseUrl" | "egress">): boolean {
  try {
    checkTargetUrl(baseUrl(), ["https:"], { ...egress, own: [] });
    return true;
  } catch (error) {
    if (error instanceof EgressError) return false;
    throw error;
  }
}

/**
 * Returns a medium in the vendor's form. Its bytes are in memory, since a file can be removed before it is sent, and
 * are encoded piece by piece while they are sent: a text of 60 MB would take a tenth of a second, in which this thread
 * would answer nobody else.
 *
 * @param memory Limits the memory of the medium.
 * @throws {GatewayError} `overloaded`; `invalid_request` if the medium cannot be read or has no form that the vendor
 * accepts.
 */
export async function mediaFor(
  parts: VideoParts,
  media: TaskMedia,
  forms: MediaForms,
  memory: Pick<HeldMemory, "reserve">,
): Promise<VideoMedia> {
  const reserve = (bytes: number) => memory.reserve(bytes);
  const form = formFor(media, forms, isPublicBase(parts));
  if (form === null) {
    throw new GatewayError("invalid_request", `Cannot send a reference of type ${media.medium}_url`);
  }
  if (form === "url") return { medium: media.medium, mediaType: typeOf(media), form, value: addressOf(parts, media) };
  const { pieces, mediaType } = media.at === "url"
    ? await fetchMedia(parts, media, reserve)
    : await storedMedia(parts.files, media, reserve);
  if (!isTakenType(media.medium, mediaType, forms)) {
    throw new GatewayError("invalid_request", `Cannot use a reference: the provider takes no ${mediaType}`);
  }
  const source = sourceOf(pieces, mediaType);
  return { medium: media.medium, mediaType, form, value: form === "base64" ? base64Of(source) : dataUriOf(source) };
}

type Pieces = readonly Uint8Array<ArrayBuffer>[];

function sourceOf(pieces: Pieces, mediaType: string): InlineSource {
  return {
    mediaType,
    lengthBytes: pieces.reduce((sum, { length }) => sum + length, 0),
    async *open() {
      yield* pieces;
    },
  };
}

function typeOf(media: TaskMedia): string | null {
  return media.at === "file" ? media.mediaType : null;
}

function addressOf({ baseUrl, signingKeys, settings, store }: VideoParts, media: TaskMedia): string {
  if (media.at === "url") return media.url;
  return signedUrl(baseUrl(), media.name, store.now() + settings.signedUrlMs, signingKeys);
}

async function storedMedia(files: FileStore, media: TaskMedia & { at: "file" }, reserve: (bytes: number) => void) {
  reserve(media.bytes);
  const file = await files.find(media.name);
  if (!file) throw new GatewayError("invalid_request", "Cannot read a reference: its file no longer exists");
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for await (const piece of file.read()) pieces.push(piece);
  return { pieces, mediaType: media.mediaType };
}

async function fetchMedia(
  { egress }: VideoParts,
  media: TaskMedia & { at: "url" },
  reserve: (bytes: number) => void,
) {
  try {
    const options = { maxBytes: MAX_MEDIA_BYTES[media.medium], timeoutMs: FETCH_MS, reserve };
    const { bytes } = await download(media.url, options, egress);
    const mediaType = await mediaTypeOf(bytes);
    if (mediaType?.startsWith(`${media.medium}/`)) return { pieces: [bytes], mediaType };
    throw new GatewayError("invalid_request", `Cannot use a reference: its content is not of type ${media.medium}`);
  } catch (error) {
    if (!(error instanceof EgressError) && !(error instanceof DownloadRefused)) throw error;
    throw new GatewayError("invalid_request", `Cannot fetch a reference: ${error.message}`, { cause: error });
  }
}
