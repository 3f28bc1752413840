import type { StreamSource } from "../../calls/stream_relay.ts";
import { parsedOrNull } from "../../../conversation/neutral/wire_value.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { createFrameReader } from "../../../platform/lib/streams/sse.ts";
import type { ReadCallbacks } from "../../../platform/net/http1/response.ts";
import type { OutboundResponse } from "../../../vendors/upstreams/call/outbound_call.ts";
import type { TextAttempt } from "../plan/attempt.ts";
import { vendorStream } from "./vendor_stream.ts";

/** A longer start is not read. Like a frame of that size, it is not counted towards the memory of the account. */
const MAX_START_BYTES = 262_144;

/** A stream whose first event was read before the response to the caller begins. */
export interface ReadAheadStream {
  /** All bytes of the stream, with those that were read. */
  readonly source: StreamSource;
  /** What the first event reports as left out of the request, in the caller's spelling. */
  readonly lost: readonly string[];
}

/**
 * Reads the first event of a vendor's stream, which echoes the request, for what the vendor left out of it. A failure
 * before that event is reported by the source.
 */
export async function startedStream(
  response: OutboundResponse,
  { endpoint: { format }, request }: Pick<TextAttempt, "endpoint" | "request">,
  clock: Clock,
): Promise<ReadAheadStream> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const frames = createFrameReader({ maxFrameCharacters: MAX_START_BYTES });
  let first: string | null = null;
  let failure: { readonly error: unknown } | null = null;
  try {
    for (let bytes = 0; first === null && bytes <= MAX_START_BYTES;) {
      const chunk = await response.read();
      if (chunk === null) break;
      chunks.push(chunk);
      bytes += chunk.length;
      first = frames.push(chunk).find(({ data }) => data.trim() !== "")?.data ?? null;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) failure = { error };
  }
  const lost = first === null ? [] : format.readDroppedFields?.(parsedOrNull(first)) ?? [];
  const rest = vendorStream(response, clock);
  return { source: replayed(chunks, rest, failure), lost: request.format.droppedFields(request.body, lost) };
}

/** A stream that begins with chunks that were read. */
export function replayed(
  chunks: readonly Uint8Array<ArrayBuffer>[],
  rest: StreamSource,
  failure: { readonly error: unknown } | null,
): StreamSource {
  const left = [...chunks];
  let isCancelled = false;
  const cancel = () => {
    isCancelled = true;
    rest.cancel();
  };
  return {
    readNext(callbacks: ReadCallbacks) {
      const chunk = isCancelled ? undefined : left.shift();
      if (chunk !== undefined) queueMicrotask(() => callbacks.onChunk(chunk));
      else if (failure !== null) queueMicrotask(() => callbacks.onError(failure.error));
      else rest.readNext(callbacks);
    },
    cancel,
    abandon: cancel,
    finish: () => rest.finish(),
  };
}
