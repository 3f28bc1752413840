import type { StreamedBody } from "../net/http1/wire_request.ts";

/** A request body that is read while it is sent, so that pictures never stand whole in memory. */
export interface OutboundBody extends StreamedBody {
  /** With its parameters, such as the boundary of a multipart body. */
  readonly contentType: string;
}

/** Tells a body that is read while it is sent from bytes, from a JSON object and from nothing. */
export function isStreamedBody(body: unknown): body is OutboundBody {
  return typeof body === "object" && body !== null && "open" in body && typeof body.open === "function";
}

/** The same body; `onRead` is called with each piece of it that is read. */
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
