import type { GatewayError } from "../lib/gateway_error.ts";
import type { MemoryLease } from "../lib/memory_budget.ts";
import type { ImageSource } from "../upstreams/image_upstream.ts";
import type { ImageModel } from "./series.ts";

/** Who asks, and how: what a protocol knows of a request beside its body. */
export interface ImageCaller {
  readonly requestId: string;
  readonly accountId: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  readonly headerPin: string | null;
  /** Gives the signal that fires when the caller leaves. */
  readonly callerSignal: () => AbortSignal;
  /** Pays for what is read for the request. */
  readonly memory: MemoryLease;
  /** A failure as an event of a stream that has begun. */
  readonly writeError: (error: GatewayError) => unknown;
}

/** A request for pictures in neutral words, checked against its model's series. */
export interface ImageRequest {
  readonly kind: "generate" | "edit";
  readonly model: ImageModel;
  /** The model as the caller named it, which the answer repeats. */
  readonly modelName: string;
  readonly prompt: string;
  /** As the vendor is asked for it. */
  readonly quality: string;
  /** As the vendor is asked for it; null when nothing was said. */
  readonly size: string | null;
  readonly count: number;
  /** Addresses or base64 of pictures to look at, still to be fetched; empty for edits. */
  readonly references: readonly string[];
  /** Pictures to change; empty for generations. */
  readonly images: readonly ImageSource[];
  readonly mask: ImageSource | null;
  readonly outputFormat: string | null;
  readonly background: string | null;
  readonly inputFidelity: string | null;
  readonly stream: boolean;
  /** How many unfinished pictures are wanted on the way; 0 unless streamed. */
  readonly partialImages: number;
  readonly bodyPin: string | null;
  /** Names of fields that this model cannot be told. */
  readonly losses: readonly string[];
}
