/** A picture's bytes where they are: in memory, or in a file of the gateway's own that is read as it is sent. */
export interface ImageSource {
  /** By the picture's own bytes, never by what a caller says: `image/png`, `image/jpeg`, `image/webp`. */
  readonly mediaType: string;
  /** How many bytes `open` gives. */
  readonly lengthBytes: number;
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
  /** The bytes from the start, each time it is called. */
  open(): AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** What a caller asks of an image model, in neutral words and already checked against the model's series. */
export interface ImageOrder {
  /** The vendor's name of the model. */
  readonly model: string;
  /** What to draw or to change, in the caller's words. */
  readonly prompt: string;
  /** `auto`, `low`, `medium`, `high`, `standard`, `hd`, or what the catalog maps it to. */
  readonly quality: string;
  /** How many pictures; 1 for vendors that make one a call. */
  readonly count: number;
  /** `auto` or `<width>x<height>`; null when nothing was said. */
  readonly size: string | null;
  /** Pictures to look at (generations) or to change (edits, at least one). */
  readonly images: readonly ImageSource[];
  /** Where to change the first picture: a PNG whose transparent parts may change. Edits only. */
  readonly mask: ImageSource | null;
  /** `png`, `jpeg` or `webp`; null when nothing was said. */
  readonly outputFormat: string | null;
  /** `transparent`, `opaque` or `auto`; null when nothing was said. */
  readonly background: string | null;
  /** `low` or `high`; null when nothing was said. Edits only. */
  readonly inputFidelity: string | null;
  /** How many unfinished pictures are wanted on the way, 0 to 3; only when streamed. */
  readonly partialImages: number;
}

/** A finished picture. */
export interface MadeImage {
  /** In the request, or at an address that must be fetched (and guarded: the vendor names it). */
  readonly result: { readonly kind: "base64"; readonly data: string } | { readonly kind: "url"; readonly url: string };
  /** What the vendor says of its type; null when it says nothing, so that the bytes must be looked at. */
  readonly mediaType: string | null;
}

/** What a vendor reports of its consumption; 0 for what it does not report. */
export interface ImageConsumption {
  /** Tokens of the text that was sent. */
  readonly textTokens: number;
  /** Tokens of the pictures that were sent. */
  readonly imageTokens: number;
  /** Tokens that were read from a cache, a part of the two above. */
  readonly cachedTokens: number;
  /** Tokens of what was made, thoughts included where the vendor counts them. */
  readonly outputTokens: number;
  /** True when a counter that the vendor sent was negative, fractional or no number; then all are zero. */
  readonly isUnreadable?: boolean;
}

/** A vendor's whole answer. */
export interface ImageOutcome {
  /** Unix seconds; null where the vendor does not say. */
  readonly createdAt: number | null;
  /** At least one; a refusal is an {@linkcode UpstreamFailure} of kind `invalid`, whatever status it came with. */
  readonly images: readonly MadeImage[];
  /** The size that was used, `<width>x<height>`; null where the vendor does not say. */
  readonly size: string | null;
  /** The quality that was used; null where the vendor does not say. */
  readonly quality: string | null;
  /** Null where the vendor reports nothing. */
  readonly consumption: ImageConsumption | null;
}

/** A step of a streamed answer. */
export type ImageEvent =
  | { readonly type: "partial"; readonly index: number; readonly data: string; readonly mediaType: string | null }
  /** The last event, once. */
  | { readonly type: "completed"; readonly outcome: ImageOutcome };

/** How one order is sent. */
export interface ImageCall {
  /** Gives the signal that fires when the caller leaves. */
  readonly callerSignal: () => AbortSignal;
  /** As in {@linkcode OutboundResponse.readAll}. Default: everything is taken. */
  readonly reserve?: (bytes: number) => void;
}

/**
 * A vendor that makes pictures. Knows no caller, no money and no store; every failure is an {@linkcode
 * UpstreamFailure}. What a vendor lacks is null.
 */
export interface ImageUpstream {
  /** Makes pictures from words, and from pictures where the vendor takes references. */
  generate(order: ImageOrder, call: ImageCall): Promise<ImageOutcome>;
  /** Changes pictures. */
  readonly edit: ((order: ImageOrder, call: ImageCall) => Promise<ImageOutcome>) | null;
  /** As the two above, with unfinished pictures on the way; null where the vendor only gives whole answers. */
  readonly stream:
    | ((order: ImageOrder, call: ImageCall, kind: "generate" | "edit") => AsyncIterable<ImageEvent>)
    | null;
  /** The most pictures of one call; more are made by several calls. */
  readonly mostPerCall: number;
}
