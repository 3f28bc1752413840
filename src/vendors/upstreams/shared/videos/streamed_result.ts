import type { Outbound, OutboundResponse, VendorRefusal } from "../../call/outbound_call.ts";
import type { OpenedResult } from "../../contract/video_upstream.ts";

const FIRST_BYTE_TIMEOUT_MS = 60_000;

/** A file on the provider's own host. */
export interface VendorFile {
  /** Below the provider's base URL, with query. */
  readonly path: string;
  /** The absolute URL if known, as the base of a relative redirect. */
  readonly url: string | null;
}

/**
 * Opens a file that requires the provider's key. The vendor may redirect to a file store, to which the key is not sent.
 *
 * @param readError Reads the vendor's error bodies.
 * @throws {UpstreamFailure} Also for a text or JSON response.
 */
export async function openStreamedResult(
  outbound: Outbound,
  { path, url }: VendorFile,
  readError: (body: unknown) => VendorRefusal,
): Promise<OpenedResult> {
  const response = await outbound.send({
    method: "GET",
    path,
    headers: {},
    body: null,
    firstByteMs: Math.min(FIRST_BYTE_TIMEOUT_MS, outbound.firstByteMs),
    callerSignal: null,
    acceptsRedirect: true,
    readError,
  });
  const isFile = response.status < 300 && !/^(?:text\/|application\/json$)/.test(response.mediaType);
  if (isFile) return { bytes: piecesOf(response) };
  response.cancel();
  const movedTo = response.status < 300 ? null : URL.parse(response.header("location") ?? "", url ?? undefined);
  if (movedTo === null) throw outbound.failure("broken", "", { status: response.status });
  return { movedTo: movedTo.href };
}

async function* piecesOf(response: OutboundResponse): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  try {
    for (let piece = await response.read(); piece !== null; piece = await response.read()) yield piece;
  } finally {
    response.cancel();
  }
}
