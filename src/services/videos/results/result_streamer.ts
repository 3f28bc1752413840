import { servedTypeOf } from "../../../platform/files/served_type.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { mediaTypeOf } from "../../../platform/lib/media/media_type.ts";
import { outputStream } from "../../../platform/lib/streams/output_stream.ts";
import { DownloadRefused } from "../../../platform/net/download.ts";
import { EgressError } from "../../../platform/net/egress_error.ts";
import { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import { readTask, type TaskEntry } from "../tasks/records.ts";
import { judged, NoMediumError } from "./judged_result.ts";
import type { AddressRenewal } from "./renew_addresses.ts";
import { type GeneratedFile, generatedFilesOf, openAtVendor, type OpenedFile } from "./result_source.ts";
import { taskIdIn } from "../tasks/task_id.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/** An open stream of a result from its vendor to the caller. */
export interface StreamedResult {
  /** Must be read or cancelled. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** By the first bytes, else the vendor's; `application/octet-stream` for types that are not served. */
  readonly mediaType: string;
  /** Length of the body; null if unknown. */
  readonly bytes: number | null;
  /** Range of the body: `bytes 0-499/1234`; null for the whole file. */
  readonly part: string | null;
}

/** A request for a copy that does not exist. */
export interface StreamRequest {
  /** One range, as in a `Range` header; null for the whole file. */
  readonly range: string | null;
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
}

/** Maximum number of concurrent streams per account and in total. */
const MAX_STREAMS = { account: 32, all: 256 };
/** Timeout of the whole stream; a player may pause. */
const STREAM_MS = 3_600_000;
const RETRY_AFTER_SECONDS = 5;

/**
 * Streams results whose copy is in progress, failed or was lost, for as long as the vendor retains them. The vendor's
 * address and key are not exposed.
 */
export class ResultStreamer {
  readonly #streams = new Map<string, number>();

  constructor(readonly parts: VideoParts, readonly renewal: AddressRenewal) {}

  /**
   * Opens the original of a copy by the name of the copy.
   *
   * @returns Null if no task has such a copy or the vendor no longer retains the original.
   * @throws {GatewayError} `overloaded`; `upstream_error` if the vendor fails; `invalid_request` with status 416 for an
   * invalid range.
   */
  async open(name: string, request: StreamRequest): Promise<StreamedResult | null> {
    const id = taskIdIn(name);
    const entry = id !== null ? await readTask(this.parts.store, id) : null;
    const { mirrors = [], extraMirrors = [], account = "" } = entry?.value ?? {};
    if (entry === null || ![...mirrors, ...extraMirrors].includes(name)) return null;
    const leave = this.#enter(account);
    let opened: OpenedResult | null;
    try {
      opened = await this.#openOrRenew(entry, name, request);
      if (opened !== null) return streamOf(opened, leave);
    } catch (error) {
      leave();
      throw error;
    }
    leave();
    return null;
  }

  async #openOrRenew(entry: TaskEntry, name: string, request: StreamRequest): Promise<OpenedResult | null> {
    const opened = await this.#openOnce(entry, name, request);
    if (opened !== null && opened !== "no_medium") return opened;
    const renewed = await this.renewal.renew(entry);
    const reopened = renewed === null ? opened : await this.#openOnce(renewed, name, request);
    if (reopened !== "no_medium") return reopened;
    throw new GatewayError("upstream_error", "Cannot stream the result: the provider returned something else");
  }

  /** Null if the vendor responds that it does not exist, `no_medium` if it returns something else, such as a page. */
  async #openOnce(
    { value: task }: TaskEntry,
    name: string,
    request: StreamRequest,
  ): Promise<OpenedResult | "no_medium" | null> {
    const thing: GeneratedFile | undefined = generatedFilesOf(task).find((each) => each.name === name);
    if (!thing) return null;
    try {
      return await openedMedium(
        await openAtVendor(this.parts, task, thing.result, { ...request, timeoutMs: STREAM_MS }),
      );
    } catch (error) {
      if (error instanceof DownloadRefused && error.status === 416) throw unsatisfiable();
      if (error instanceof NoMediumError) return "no_medium";
      const isGone = (error instanceof DownloadRefused && error.status >= 400 && error.status < 500) ||
        (error instanceof UpstreamFailure && error.kind === "invalid");
      if (isGone) return null;
      const isVendors = error instanceof DownloadRefused || error instanceof EgressError ||
        error instanceof UpstreamFailure;
      if (!isVendors) throw error;
      throw new GatewayError("upstream_error", "Cannot stream the result: the provider did not return it", {
        cause: error,
      });
    }
  }

  /** Counts a stream; returns a function to call, once or more, when it has ended. */
  #enter(account: string): () => void {
    const names = [`account ${account}`, "all"];
    const own = this.#streams.get(`account ${account}`) ?? 0;
    const all = this.#streams.get("all") ?? 0;
    if (own >= MAX_STREAMS.account || all >= MAX_STREAMS.all) {
      throw new GatewayError(
        "overloaded",
        "Cannot stream the result: too many results are being streamed from their providers",
        {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        },
      );
    }
    const count = (by: number) => {
      for (const name of names) {
        const streams = (this.#streams.get(name) ?? 0) + by;
        if (streams > 0) this.#streams.set(name, streams);
        else this.#streams.delete(name);
      }
    };
    count(1);
    let isIn = true;
    return () => {
      if (isIn) count(-1);
      isIn = false;
    };
  }
}

/** An open result whose first bytes have been read. */
interface OpenedResult extends Pick<OpenedFile, "bytes" | "part"> {
  readonly source: AsyncIterator<Uint8Array>;
  /** By the first bytes, else the vendor's; null if unknown. */
  readonly mediaType: string | null;
}

/** The kinds of media are distinguished by so many bytes; more are not waited for. */
const HEAD_BYTES = 64;

/**
 * Reads the first bytes: a vendor that fails before them results in an error status instead of a broken body, and a
 * page instead of the result is not served. A range without the first bytes is not judged.
 */
async function openedMedium({ bytes, part, body, mediaType }: OpenedFile): Promise<OpenedResult> {
  const isStart = part === null || Number(/^bytes 0-(\d+)\//.exec(part)?.[1] ?? 0) >= HEAD_BYTES - 1;
  try {
    const read = await judged(body, { declaredType: mediaType, minBytes: HEAD_BYTES, isStart });
    if (read.problem !== null) throw new NoMediumError(read.problem);
    const ownType = part === null ? await mediaTypeOf(read.head) : null;
    return { bytes, part, source: read.body, mediaType: ownType ?? mediaType };
  } catch (error) {
    if (error instanceof NoMediumError) throw error;
    throw new GatewayError("upstream_error", "Cannot stream the result: the provider closed the connection", {
      cause: error,
    });
  }
}

/** Returns the body as a stream that is read on demand, with its media type. */
function streamOf({ bytes, part, source, mediaType: type }: OpenedResult, onEnd: () => void): StreamedResult {
  const mediaType = servedTypeOf(type);
  return {
    mediaType,
    bytes,
    part,
    body: outputStream({
      async pull(output) {
        try {
          const piece = (await source.next()).value ?? null;
          if (piece !== null) return output.enqueue(new Uint8Array(piece));
          onEnd();
          output.close();
        } catch (error) {
          onEnd();
          output.error(error);
        }
      },
      async cancel() {
        onEnd();
        await source.return?.();
      },
    }, { highWaterMark: 0 }),
  };
}

function unsatisfiable(): GatewayError {
  return new GatewayError("invalid_request", "Cannot serve the range: it is outside the file", { status: 416 });
}
