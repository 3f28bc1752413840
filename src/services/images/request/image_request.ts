import type { RequestRecord } from "../../../platform/http/request/request_record.ts";
import type { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { LimitedCaller } from "../../../money/limits/limited_caller.ts";
import type { FileReference, SentMedia } from "../../../platform/lib/media/sent_media.ts";
import type { HeldMemory } from "../../../platform/lib/process/memory_budget.ts";
import type { ImageSource } from "../../../vendors/upstreams/contract/image_upstream.ts";
import type { ImageExtras } from "../../../vendors/upstreams/contract/image_options.ts";
import type { SvgAuthor } from "./file_types.ts";
import type { ImageModel } from "./series.ts";

/** The caller, and what a protocol knows of a request besides its body. */
export interface ImageCaller {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The limits of the key and its account. */
  readonly limits: LimitedCaller["limits"];
  /** Unix milliseconds. */
  readonly receivedAt: number;
  readonly headerPin: string | null;
  /** Returns the signal that fires when the caller disconnects. */
  readonly callerSignal: () => AbortSignal;
  /** The memory lease for data read for the request. */
  readonly memory: HeldMemory;
  /** Collects what happens to the request. */
  readonly record: RequestRecord;
  /** Renders a failure as an event of an open stream. */
  readonly writeError: (error: GatewayError) => unknown;
}

/** A protocol-independent image request, validated for its model's series. */
export interface ImageRequest {
  readonly kind: "generate" | "edit";
  readonly model: ImageModel;
  /** The model as the caller named it; repeated in the response. */
  readonly modelName: string;
  readonly prompt: string;
  /** As sent to the vendor. */
  readonly quality: string;
  /** As sent to the vendor; null if not given. */
  readonly size: string | null;
  readonly count: number;
  /** Addresses, base64 or stored files of input pictures, not read yet; empty for edits by a form. */
  readonly references: readonly (SentMedia | FileReference)[];
  /** The mask likewise; null for none. */
  readonly maskReference: SentMedia | FileReference | null;
  /** Pictures to edit; empty for generations. */
  readonly images: readonly ImageSource[];
  readonly mask: ImageSource | null;
  readonly outputFormat: string | null;
  /** Who writes an SVG drawing; null for other file types. */
  readonly svg: SvgAuthor | null;
  readonly background: string | null;
  readonly inputFidelity: string | null;
  readonly stream: boolean;
  /** The number of partial pictures; 0 unless streamed. */
  readonly partialImages: number;
  readonly bodyPin: string | null;
  /** Further fields that are sent to vendors that have them. */
  readonly extras: ImageExtras;
  /** The fields that this model does not receive. */
  readonly droppedFields: readonly string[];
}
