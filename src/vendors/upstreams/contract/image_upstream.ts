import type { ImageExtras, ImageOptionName } from "./image_options.ts";
import type { JsonRequestOptions } from "../call/outbound_call.ts";

/** An image in memory or in a file of the gateway, which is read while it is sent. */
export interface ImageSource {
  /** Detected from the bytes, not from what the caller declares: `image/png`, `image/jpeg`, `image/webp`. */
  readonly mediaType: string;
  /** The number of bytes of the image. */
  readonly lengthBytes: number;
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
  /** Returns the bytes from the start, on each call. */
  open(): AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** A request to an image model in neutral terms, already validated against the model's series. */
export interface ImageOrder {
  /** The vendor's name of the model. */
  readonly model: string;
  /** What to draw or to change, as the caller wrote it. */
  readonly prompt: string;
  /** `auto`, `low`, `medium`, `high`, `standard`, `hd`, or the value that the catalog maps it to. */
  readonly quality: string;
  /** The number of images; 1 for vendors with one image per request. */
  readonly count: number;
  /** `auto` or `<width>x<height>`; null if not set. */
  readonly size: string | null;
  /** Reference images (generations), or images to edit (edits, at least one). */
  readonly images: readonly ImageSource[];
  /** The area of the first image that may change: a PNG whose transparent parts may change. Edits only. */
  readonly mask: ImageSource | null;
  /** `png`, `jpeg`, `webp`, `gif` or `svg`; null if not set. */
  readonly outputFormat: string | null;
  /** What the caller chose about the author of an SVG drawing; null for none. */
  readonly svg: SvgChoice | null;
  /** `transparent`, `opaque` or `auto`; null if not set. */
  readonly background: string | null;
  /** `low` or `high`; null if not set. Edits only. */
  readonly inputFidelity: string | null;
  /** The number of partial images, 0 to 3. Only for streams. */
  readonly partialImages: number;
  /** Further fields by their names in the default protocol. */
  readonly extras: ImageExtras;
}

/** Who writes an SVG drawing. */
export interface SvgChoice {
  /** The vendor's name of the model; null leaves it to the vendor. */
  readonly model: string | null;
  /** Its reasoning effort; null for its default. */
  readonly effort: string | null;
}

/** What the author of an SVG drawing consumed, beside the image that it drew from. */
export interface SvgUsage {
  /** The vendor's name of the author; null if not reported. */
  readonly model: string | null;
  /** Of the prompt and the image. NaN if the counter is not readable. */
  readonly inputTokens: number;
  /** With the reasoning. NaN if the counter is not readable. */
  readonly outputTokens: number;
  /** The part of `outputTokens` that is reasoning. */
  readonly reasoningTokens: number;
}

/** A finished image. */
export interface GeneratedImage {
  /** Inline, or at a URL. The vendor supplies the URL, so it must be downloaded through the guarded client. */
  readonly result: { readonly kind: "base64"; readonly data: string } | { readonly kind: "url"; readonly url: string };
  /** The media type that the vendor reports; null if it reports none, so that the bytes must be inspected. */
  readonly mediaType: string | null;
}

/** The consumption that a vendor reports; 0 for what it does not report. */
export interface ImageConsumption {
  /** Tokens of the input text. */
  readonly textTokens: number;
  /** Tokens of the input images. */
  readonly imageTokens: number;
  /** Tokens read from a cache, included in the two counts above. */
  readonly cachedTokens: number;
  /** The part of `cachedTokens` that are input images; absent where the vendor does not report it. */
  readonly cachedImageTokens?: number;
  /** All tokens of the output, including thoughts where the vendor counts them. */
  readonly outputTokens: number;
  /** The part of `outputTokens` that is text or thoughts. The rest are images. */
  readonly outputTextTokens: number;
  /** True if a counter of the vendor was negative, fractional or not a number. All counters are zero then. */
  readonly isUnreadable?: boolean;
}

/** The complete result of an image request. */
export interface ImageOutcome {
  /** Unix seconds; null if not reported. */
  readonly createdAt: number | null;
  /** At least one. A refusal is an {@linkcode UpstreamFailure} of kind `invalid`, whatever its status. */
  readonly images: readonly GeneratedImage[];
  /** The size of the images, `<width>x<height>`; null if not reported. */
  readonly size: string | null;
  /** The quality of the images; null if not reported. */
  readonly quality: string | null;
  /** Null if the vendor reports nothing. */
  readonly consumption: ImageConsumption | null;
  /** Of SVG drawings. Default: nothing is reported. */
  readonly svgUsage?: SvgUsage;
}

/** An event of a streamed response. */
export type ImageEvent =
  | { readonly type: "partial"; readonly index: number; readonly data: string; readonly mediaType: string | null }
  /** The last event, sent once. */
  | { readonly type: "completed"; readonly outcome: ImageOutcome };

/** The context of one image request. */
export interface ImageCall {
  /** Returns the signal that aborts when the caller disconnects. */
  readonly callerSignal: () => AbortSignal;
  /** As in {@linkcode OutboundResponse.readAll}. Default: everything is accepted. */
  readonly reserve?: (bytes: number) => void;
  /** Called with the head of each 2xx response of the vendor. Default: nothing is done. */
  readonly onResponse?: JsonRequestOptions["onResponse"];
}

/**
 * The image capability of a vendor. It does not depend on callers, billing or the store. Every failure is an
 * {@linkcode UpstreamFailure}. Unsupported functions are null.
 */
export interface ImageUpstream {
  /** Creates images from a prompt and, where supported, from reference images. */
  generate(order: ImageOrder, call: ImageCall): Promise<ImageOutcome>;
  /** Edits images. */
  readonly edit: ((order: ImageOrder, call: ImageCall) => Promise<ImageOutcome>) | null;
  /** The same with partial images; null if the vendor returns complete responses only. */
  readonly stream:
    | ((order: ImageOrder, call: ImageCall, kind: "generate" | "edit") => AsyncIterable<ImageEvent>)
    | null;
  /** The maximum number of images per request. More images are created by several requests. */
  readonly maxPerCall: number;
  /** The file types that are made one per request. Default: none. */
  readonly singleFormats?: readonly string[];
  /** The file types that are not streamed. Default: none. */
  readonly unstreamedFormats?: readonly string[];
  /** The optional fields of an order that are sent, besides partial images. Default: none. */
  readonly sentOptions?: (order: ImageOrder) => readonly ImageOptionName[];
}
