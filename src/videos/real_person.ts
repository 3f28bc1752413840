import { imageSize } from "image-size";
import { GatewayError } from "../lib/gateway_error.ts";
import { download, DownloadRefused } from "../net/download.ts";
import { EgressError } from "../net/egress_error.ts";
import type { EgressPolicy } from "../net/target.ts";
import { bytesOfDataUri, isDataUri } from "./data_uri.ts";
import type { SentReference } from "./references.ts";

/** Why a picture cannot be prepared. Source: SPEC "Errors", rule 3. */
export type PictureFault = "bad_data_uri" | "download_failed" | "unreachable" | "not_image" | "too_large";

/** A picture in the one shape that vendors get it in. */
export interface PreparedPicture {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mediaType: "image/jpeg" | "image/png";
}

const LARGEST_BYTES = 20_000_000;
const MOST_PIXELS = 50_000_000;
/** For all pictures of one request. */
const MOST_REQUEST_BYTES = 80_000_000;
const MOST_REQUEST_PIXELS = 200_000_000;
/** Pixels of the long side; larger pictures are made smaller. */
const LONG_SIDE = 2_048;
const FETCH_MS = 15_000;
const KINDS: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
};

/** One picture is decoded at a time in the whole process: each may need 200 MB for a moment. */
let lane: Promise<unknown> = Promise.resolve();

/**
 * Prepares every picture of a request for a vendor that looks for faces: upright, at most 2,048 pixels a side, as JPEG or, where
 * it was PNG, as PNG; without any metadata. Dimensions are read before anything is decoded.
 *
 * @returns The pictures in the order of the references.
 * @throws {GatewayError} `invalid_request` whose message ends in the reason code and the position.
 */
export async function preparePictures(
  references: readonly SentReference[],
  egress: EgressPolicy,
): Promise<PreparedPicture[]> {
  const prepared: PreparedPicture[] = [];
  const work = { bytes: 0, pixels: 0 };
  for (const reference of references) {
    const sent = await bytesOf(reference, egress);
    work.bytes += sent.length;
    if (work.bytes > MOST_REQUEST_BYTES) throw fault("too_large", reference);
    const look = lookAt(sent, reference);
    work.pixels += look.width * look.height;
    if (work.pixels > MOST_REQUEST_PIXELS) throw fault("too_large", reference);
    const turn = lane.then(() => redrawn(sent, look, reference));
    lane = turn.catch(() => {}); // its own caller hears of it
    prepared.push(await turn);
  }
  return prepared;
}

async function bytesOf(reference: SentReference, egress: EgressPolicy): Promise<Uint8Array<ArrayBuffer>> {
  if (isDataUri(reference.url)) {
    const bytes = bytesOfDataUri(reference.url);
    if (bytes === null) throw fault("bad_data_uri", reference);
    if (bytes.length > LARGEST_BYTES) throw fault("too_large", reference);
    return bytes;
  }
  try {
    const options = { maxBytes: LARGEST_BYTES, timeoutMs: FETCH_MS, accept: "image/*" };
    return (await download(reference.url, options, egress)).bytes;
  } catch (error) {
    if (error instanceof DownloadRefused) throw fault("unreachable", reference, error);
    if (!(error instanceof EgressError)) throw error;
    throw fault(error.kind === "too_large" ? "too_large" : "download_failed", reference, error);
  }
}

interface Look {
  readonly width: number;
  readonly height: number;
  readonly mediaType: string;
}

function lookAt(bytes: Uint8Array, reference: SentReference): Look {
  let size: ReturnType<typeof imageSize>;
  try {
    size = imageSize(bytes);
  } catch (cause) {
    throw fault("not_image", reference, cause);
  }
  const mediaType = KINDS[size.type ?? ""];
  if (mediaType === undefined || !(size.width > 0) || !(size.height > 0)) throw fault("not_image", reference);
  if (mediaType === "image/jpeg" && !isWholeJpeg(bytes)) throw fault("not_image", reference);
  if (size.width * size.height > MOST_PIXELS) throw fault("too_large", reference);
  return { width: size.width, height: size.height, mediaType };
}

/**
 * Whether the end mark comes after the first scan begins; the decoder would fill up what is missing with grey. Within a scan 0xff
 * is followed by zero or a mark, so that no picture holds the end mark by chance (ITU-T T.81, B.1.1).
 */
function isWholeJpeg(bytes: Uint8Array): boolean {
  let at = 2;
  while (at + 4 <= bytes.length && bytes[at] === 0xff && bytes[at + 1] !== 0xda) {
    const isFill = bytes[at + 1] === 0xff;
    at += isFill ? 1 : 2 + (bytes[at + 2] << 8 | bytes[at + 3]);
  }
  for (let mark = at + 2; (mark = bytes.indexOf(0xff, mark)) >= 0; mark++) if (bytes[mark + 1] === 0xd9) return true;
  return false;
}

/** Decoding turns the picture upright by its own mark, and encoding anew leaves all metadata behind. */
async function redrawn(bytes: Uint8Array<ArrayBuffer>, look: Look, reference: SentReference): Promise<PreparedPicture> {
  const mediaType = look.mediaType === "image/png" ? "image/png" : "image/jpeg";
  try {
    const decoded = await createImageBitmap(new Blob([bytes], { type: look.mediaType }));
    const scale = Math.min(1, LONG_SIDE / Math.max(decoded.width, decoded.height));
    const picture = scale === 1 ? decoded : await createImageBitmap(decoded, {
      resizeWidth: Math.max(1, Math.round(decoded.width * scale)),
      resizeHeight: Math.max(1, Math.round(decoded.height * scale)),
      resizeQuality: "high",
    });
    if (picture !== decoded) decoded.close();
    const canvas = new OffscreenCanvas(picture.width, picture.height);
    canvas.getContext("bitmaprenderer")!.transferFromImageBitmap(picture);
    const blob = await canvas.convertToBlob({ type: mediaType, quality: 0.92 });
    return { bytes: new Uint8Array(await blob.arrayBuffer()), mediaType };
  } catch (cause) {
    throw fault("not_image", reference, cause);
  }
}

function fault(code: PictureFault, { field }: SentReference, cause?: unknown): GatewayError {
  return new GatewayError("invalid_request", `Cannot prepare the reference image: ${code} at ${field}`, {
    field,
    cause,
  });
}
