import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { elementAt } from "../../../platform/lib/collections/element_at.ts";
import { holdWork } from "../../../platform/lib/basics/held.ts";
import { openDownload } from "../../../platform/net/download.ts";
import { EgressError } from "../../../platform/net/egress_error.ts";
import type { EgressPolicy } from "../../../platform/net/target.ts";
import { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type { VideoResult, VideoUpstream } from "../../../vendors/upstreams/contract/video_upstream.ts";
import { extraMirrorNamesOf, mirrorNamesOf } from "../tasks/mirror_names.ts";
import type { VideoTask } from "../tasks/task.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/** A file that a vendor generated for a task: a result or an extra. */
export interface GeneratedFile {
  /** Name of its copy in the file store. */
  readonly name: string;
  readonly result: VideoResult;
}

/** An open download of a generated file. */
export interface OpenedFile {
  /** Must be read or discarded. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The vendor's media type; null if there is none. */
  readonly mediaType: string | null;
  /** Length of the body; null if unknown. */
  readonly bytes: number | null;
  /** As in {@linkcode openDownload}. */
  readonly part: string | null;
  discard(): void;
}

/** Options of a download. */
export interface OpenOptions {
  /** As in {@linkcode openDownload}; ignored for results that need the vendor's key. */
  readonly range?: string | null;
  readonly signal: AbortSignal;
  /** Timeout of the whole download, in milliseconds. */
  readonly timeoutMs: number;
}

/** Maximum size of a result. */
export const MAX_RESULT_BYTES = 4_000_000_000;

const DEFAULT_LIFE_MS = 86_400_000;
/** Timeout of the response headers. */
const HEAD_MS = 30_000;
/** Pre-signed addresses are longer than the maximum for callers' addresses. */
const MAX_URL_LENGTH = 4_096;

/** Returns all generated files of a task, results first. */
export function generatedFilesOf({ id, results, extras = [] }: VideoTask): readonly GeneratedFile[] {
  const names = [...mirrorNamesOf(id, results), ...extraMirrorNamesOf(id, extras)];
  const generated = [...results, ...extras.map(({ url }) => ({ url, needsCredential: false }))];
  return generated.map((result, index) => ({ name: elementAt(names, index), result }));
}

/** Returns until when the vendor retains the results of an ended task, in Unix milliseconds. */
export function originalsExpireAt({ upstreams }: Pick<VideoParts, "upstreams">, task: VideoTask): number {
  return (task.renewedAt ?? task.updatedAt) + (upstreamOf(upstreams, task)?.resultLifetimeMs ?? DEFAULT_LIFE_MS);
}

/** Returns the vendor that generated a task's results; null if it is no longer configured. */
export function upstreamOf(upstreams: VideoParts["upstreams"], { stage }: VideoTask): VideoUpstream | null {
  return stage.step === "submitted" ? upstreams.get(stage.provider) ?? null : null;
}

/**
 * Opens a generated file at its vendor. The vendor's key is sent only to hosts that the adapter selects; other
 * addresses are fetched under the egress policy.
 *
 * @throws {EgressError}
 * @throws {DownloadRefused}
 * @throws {UpstreamFailure}
 */
export async function openAtVendor(
  parts: VideoParts,
  task: VideoTask,
  { url, needsCredential }: VideoResult,
  options: OpenOptions,
): Promise<OpenedFile> {
  const { stage } = task;
  if (url !== null && !needsCredential) return await fetchOpen(parts, url, options);
  const open = upstreamOf(parts.upstreams, task)?.open;
  if (!open || stage.step !== "submitted") {
    const provider = stage.step === "waiting" ? "" : stage.provider;
    throw new UpstreamFailure(provider, "invalid", "the adapter cannot open its results", {
      status: null,
      accepted: "no",
    });
  }
  const opened = await open({ url, needsCredential }, stage.job);
  if ("movedTo" in opened) return await fetchOpen(parts, opened.movedTo, options);
  const body = opened.bytes;
  const discard = () => {
    const ended = body[Symbol.asyncIterator]().return?.();
    if (ended !== undefined) holdWork(ended);
  };
  return { body, mediaType: null, bytes: null, part: null, discard };
}

async function fetchOpen(parts: VideoParts, url: string, options: OpenOptions): Promise<OpenedFile> {
  const { range, signal, timeoutMs } = options;
  using head = deadlineOf(parts.clock, HEAD_MS);
  try {
    const { mediaType, length, ...opened } = await openDownload(url, {
      maxBytes: MAX_RESULT_BYTES,
      timeoutMs,
      range,
      signal: AbortSignal.any([signal, head.signal]),
    }, policyFor(parts.egress));
    return { ...opened, mediaType: mediaType || null, bytes: length };
  } catch (error) {
    if (!head.signal.aborted || signal.aborted) throw error;
    throw new EgressError("timeout", "the request timed out", { cause: error });
  }
}

/** Keyed by the original policy, because connections are cached per policy object. */
const policies = new WeakMap<EgressPolicy, EgressPolicy>();

function policyFor(egress: EgressPolicy): EgressPolicy {
  let policy = policies.get(egress);
  if (!policy) policies.set(egress, policy = { ...egress, maxUrlLength: MAX_URL_LENGTH });
  return policy;
}

/** Returns a signal that aborts after a time, unless it is disposed of before. */
function deadlineOf(clock: Clock, ms: number): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const stop = clock.after(ms, () => controller.abort());
  return { signal: controller.signal, [Symbol.dispose]: stop };
}
