import type { StreamedBody } from "../../../platform/net/http1/wire_request.ts";

/** A request body that is read while it is sent, so that images are never completely in memory. */
export interface OutboundBody extends StreamedBody {
  /** Includes its parameters, such as the boundary of a multipart body. */
  readonly contentType: string;
}

/** Whether a body is read while it is sent, and is not bytes, a JSON object or null. */
export function isStreamedBody(body: unknown): body is OutboundBody {
  return typeof body === "object" && body !== null && "open" in body && typeof body.open === "function";
}

/** Returns the same body. `onRead` is called for each chunk that is read. */
export function watchedBody(body: OutboundBody, onRead: () => void): OutboundBody {
  return {
    contentType: body.contentType,
    lengthBytes: body.lengthBytes,
    async *open() {
      for await (const bytes of body.open()) {
        onRead();
        yield bytes;
      }
    },
  };
}
