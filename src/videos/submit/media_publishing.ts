import { Buffer } from "node:buffer";
import type { FileStore } from "../../files/files.ts";
import { signedUrl } from "../../files/signed_url.ts";
import { GatewayError } from "../../lib/gateway_error.ts";
import { concatBytes } from "../../lib/concat_bytes.ts";
import { mediaTypeOf } from "../../lib/media_type.ts";
import type { MemoryLease } from "../../lib/memory_budget.ts";
import { download, DownloadRefused } from "../../net/download.ts";
import { EgressError } from "../../net/egress_error.ts";
import { checkTargetUrl } from "../../net/target.ts";
import type { MediaForms, VideoMedia } from "../../upstreams/video_upstream.ts";
import type { Medium } from "../../lib/video_mode.ts";
import type { TaskMedia } from "../tasks/task.ts";
import type { VideoParts } from "../video_parts.ts";

/** What is fetched for a vendor that wants bytes, at most. */
const MAX_BYTES: Readonly<Record<Medium, number>> = { image: 30_000_000, audio: 20_000_000, video: 50_000_000 };
/** What goes inline into a vendor's request although the vendor would fetch it, too. */
const INLINE_BYTES = 10_000_000;
const FETCH_MS = 60_000;
/** Bytes of memory that a byte of a medium costs: as it is, in base64, as JSON text, and as bytes to send. */
const MEDIA_MEMORY_FACTOR = 5;

/**
 * The form in which a vendor gets a medium, or null when there is none: a caller's address as it is where the vendor
 * fetches, else its bytes; a file of ours as bytes where the vendor takes them, because it need not reach us then, else
 * at a signed address, provided that the gateway can be reached from outside.
 */
export function formFor(
  media: TaskMedia,
  forms: MediaForms,
  isPublic: boolean,
): VideoMedia["form"] | null {
  const taken = forms[media.medium];
  const inline = taken.find((form) => form !== "url") ?? null;
  if (media.at === "url") return taken.includes("url") ? "url" : inline;
  const asUrl = taken.includes("url") && isPublic ? "url" : null;
  return media.bytes <= INLINE_BYTES ? inline ?? asUrl : asUrl ?? inline;
}

/** Whether a vendor outside can fetch from the gateway: https, and no private address or local name. */
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
 * Writes a medium in a vendor's form.
 *
 * @param memory Pays for the medium.
 * @throws {GatewayError} `overloaded`; `invalid_request` when it cannot be had, or the vendor takes it in no form that
 * can be made.
 */
export async function mediaFor(
  parts: VideoParts,
  media: TaskMedia,
  forms: MediaForms,
  memory: Pick<MemoryLease, "reserve">,
): Promise<VideoMedia> {
  const reserve = (bytes: number) => memory.reserve(bytes * MEDIA_MEMORY_FACTOR);
  const form = formFor(media, forms, isPublicBase(parts));
  if (form === null) {
    throw new GatewayError("invalid_request", `Cannot hand over a reference of type ${media.medium}_url`);
  }
  if (form === "url") return { medium: media.medium, mediaType: typeOf(media), form, value: addressOf(parts, media) };
  const { bytes, mediaType } = media.at === "url"
    ? await fetched(parts, media, reserve)
    : await kept(parts.files, media, reserve);
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
  const value = form === "base64" ? base64 : `data:${mediaType};base64,${base64}`;
  return { medium: media.medium, mediaType, form, value };
}

function typeOf(media: TaskMedia): string | null {
  return media.at === "file" ? media.mediaType : null;
}

function addressOf({ baseUrl, signingKeys, settings, store }: VideoParts, media: TaskMedia): string {
  if (media.at === "url") return media.url;
  return signedUrl(baseUrl(), media.name, store.now() + settings.signedUrlMs, signingKeys);
}

async function kept(files: FileStore, media: TaskMedia & { at: "file" }, reserve: (bytes: number) => void) {
  reserve(media.bytes);
  const file = await files.find(media.name);
  if (!file) throw new GatewayError("invalid_request", "Cannot find the reference any more");
  const pieces: Uint8Array[] = [];
  for await (const piece of file.read()) pieces.push(piece);
  return { bytes: concatBytes(pieces), mediaType: media.mediaType };
}

async function fetched(
  { egress }: VideoParts,
  media: TaskMedia & { at: "url" },
  reserve: (bytes: number) => void,
) {
  try {
    const options = { maxBytes: MAX_BYTES[media.medium], timeoutMs: FETCH_MS, reserve };
    const { bytes } = await download(media.url, options, egress);
    const mediaType = await mediaTypeOf(bytes);
    if (mediaType?.startsWith(`${media.medium}/`)) return { bytes, mediaType };
    throw new GatewayError("invalid_request", `Cannot use a reference: what it holds is no ${media.medium}`);
  } catch (error) {
    if (!(error instanceof EgressError) && !(error instanceof DownloadRefused)) throw error;
    throw new GatewayError("invalid_request", `Cannot fetch a reference: ${error.message}`, { cause: error });
  }
}
