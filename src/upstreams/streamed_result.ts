import type { Outbound, OutboundResponse, VendorRefusal } from "./outbound_call.ts";
import type { OpenedResult } from "./video_upstream.ts";

const FIRST_BYTE_MS = 60_000;

/** A file that lies at the provider's own host. */
export interface StoredFile {
  /** Below the provider's base address, with query. */
  readonly path: string;
  /** The file's whole address, where it is known, for a redirect that names no host. */
  readonly url: string | null;
}

/**
 * Opens a file that only the provider's key opens. The vendor may send on to a store, which the key does not go to.
 *
 * @param readError What the vendor's error bodies say.
 * @throws {UpstreamFailure} Also when a text or JSON is answered in place of a file.
 */
export async function openStreamedResult(
  outbound: Outbound,
  { path, url }: StoredFile,
  readError: (body: unknown) => VendorRefusal,
): Promise<OpenedResult> {
  const response = await outbound.send({
    method: "GET",
    path,
    headers: {},
    body: null,
    firstByteMs: Math.min(FIRST_BYTE_MS, outbound.firstByteMs),
    callerSignal: null,
    takesRedirect: true,
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
