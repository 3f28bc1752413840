import type { RequestRecord } from "../../../platform/http/request/request_record.ts";
import type { JoinedBytes } from "../../../platform/lib/bytes/joined_bytes.ts";
import { piecesStream } from "../../../platform/lib/streams/output_stream.ts";

/** Returns buffers with exactly the collected bytes. Only small ones may have to be copied for that. */
export function buffersOf(bytes: JoinedBytes): ArrayBuffer[] {
  return bytes.pieces.map((piece) => piece.length === piece.buffer.byteLength ? piece.buffer : piece.slice().buffer);
}

/** Returns a response with a body in several buffers. */
export function piecesResponse(
  record: RequestRecord,
  buffers: readonly ArrayBuffer[],
  fields: Readonly<Record<string, string>>,
): Response {
  const length = buffers.reduce((sum, { byteLength }) => sum + byteLength, 0);
  record.responseBytes = length;
  const response = new Response(piecesStream(buffers, (piece) => record.capture?.addResponse(piece)));
  const { headers } = response;
  for (const name in fields) headers.set(name, fields[name]!);
  headers.set("content-length", String(length));
  return response;
}
