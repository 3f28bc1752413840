import * as z from "zod";
import type { CacheLimits } from "../caches/cache_parts.ts";
import type { RateTerms } from "../limits/request_rate.ts";
import { boolean, bytes, number, optional, type ReadContext, seconds, wholeNumber } from "../lib/settings.ts";
import type { PollSchedule } from "../videos/tasks/poll_schedule.ts";

/** Limits on callers' requests, on memory, and on disk. */
export interface LimitsConfig {
  /**
   * Bytes of memory that all bodies, downloads and replies under way can use. Default, as null: a quarter of the
   * machine's memory; see `defaultMemoryLimit`.
   */
  readonly memoryBytes: number | null;
  /** Bytes of free disk space below which paid work is refused, for the store and the files. Default: 64 MB. */
  readonly minFreeDiskBytes: number;
  /** Bytes of disk space for copies of results. Default, as null: the size of the disk less `minFreeDiskBytes`. */
  readonly filesQuotaBytes: number | null;
  /** Requests that one account can have open at a time. Default: 2,000. */
  readonly accountConcurrency: number;
  /** Limits on the cached contents of one credential. */
  readonly cachedContents: CacheLimits;
  /** How replies to requests with an `Idempotency-Key` are kept. */
  readonly idempotency: IdempotencyConfig;
  /** How the events of streams that can be resumed are kept. */
  readonly resume: ResumeConfig;
  /** Rate limit of `GET /v1/videos/{id}`. Default: 60 in 60 s, bursts of 10. */
  readonly videoPolling: RateTerms;
  /** Rate limit of the other reads of each credential. Default: 600 in 60 s, bursts of 100. */
  readonly reads: RateTerms;
  /** Rate limit of the dry runs of each credential. Default: 60 in 60 s, also at once. */
  readonly dryRuns: RateTerms;
  /** Concurrent streams of `GET /v1/videos/{id}/events` per credential. Default: 100. */
  readonly videoEventStreams: number;
  /** How often vendors are polled for video tasks. */
  readonly vendorPolling: PollSchedule;
  /** Maximum bytes of a text request. Default: 20 MB. */
  readonly textBodyBytes: number;
  /** A text request with more bytes is answered in a thread. Default: 2 MB. */
  readonly largeBodyBytes: number;
  /** Maximum bytes of an image generation request, references included. Default: 50 MB. */
  readonly imageBodyBytes: number;
  /** Maximum bytes of an image edit request. Default: 50 MB, see docs/api/limits.md#bodies. */
  readonly editBodyBytes: number;
  /** Maximum bytes of one file in an image edit request. Default: 15 MB, see docs/api/limits.md#bodies. */
  readonly editFileBytes: number;
  /** Maximum bytes of a video create request, references included. Default: 50 MB. */
  readonly videoBodyBytes: number;
  /** Maximum bytes of a request for embeddings, ranks, moderations or speech. Default: 4 MB. */
  readonly inputBodyBytes: number;
  /** Maximum bytes of a form with audio. Default: 30 MB. */
  readonly audioBodyBytes: number;
  /** Maximum bytes of any other request. Default: 64 KB. */
  readonly otherBodyBytes: number;
  /** Maximum pause of a request body in milliseconds. Default: 15 s. */
  readonly bodyIdleMs: number;
  /** Maximum time in which a video task is pending, in milliseconds; then it expires. Default: 24 h. */
  readonly videoDeadlineMs: number;
  /**
   * Time after which a create that the vendor neither confirmed nor can find is considered failed, in milliseconds. It
   * must exceed the duration of any create. Default: 300 s.
   */
  readonly videoDoubtMs: number;
  /** Lifetime of a signed result address in milliseconds; at most seven days. Default: 24 h. */
  readonly signedUrlMs: number;
}

/** How replies to requests with an `Idempotency-Key` are kept. */
export interface IdempotencyConfig {
  /** Whether keys have an effect, except for videos, whose keys always have. Default: true. */
  readonly isEnabled: boolean;
  /** The most bytes of one reply. Default: 8 MB. */
  readonly replyBytes: number;
  /** The most bytes of all replies of an account within 24 hours. Default: 100 MB. */
  readonly accountBytes: number;
  /** The most keys that an account uses within 24 hours. Default: 10,000. */
  readonly accountKeys: number;
  /** The time after which the key of a request is free whose process has ended, in milliseconds. Default: 30 s. */
  readonly leaseMs: number;
}

/** How the events of streams that can be resumed are kept. */
export interface ResumeConfig {
  /** Whether streams can be resumed. Default: true. */
  readonly isEnabled: boolean;
  /** The most bytes of one stream. Default: 8 MB. */
  readonly streamBytes: number;
  /** The most bytes of all streams of an account. Default: 32 MB. */
  readonly accountBytes: number;
  /** The most streams of an account. Default: 100. */
  readonly accountStreams: number;
  /** How long events are kept after the end of their stream, in milliseconds. Default: 10 min. */
  readonly keepMs: number;
}

const MAX_BODY_BYTES = 1_000_000_000;
const DAY = 86_400;
const MIN_MEMORY_BYTES = 16_000_000;
const MAX_MEMORY_BYTES = 1_000_000_000_000;
const MAX_DISK_BYTES = 999_999_999_999_999;

const body = () => bytes(1, MAX_BODY_BYTES);

const rate = (requests: number, burst: number) =>
  z.strictObject({
    requests: wholeNumber(1, 1_000_000).default(requests),
    per: seconds(0.001, DAY).default(60_000),
    burst: wholeNumber(0, 1_000_000).default(burst),
  }).transform(({ requests, per, burst }) => ({ requests, perMs: per, burst })).prefault({});

/** The schema of the `limits` section. */
export const limitsSchema: z.ZodType<LimitsConfig> = z.strictObject({
  memory: optional(bytes(MIN_MEMORY_BYTES, MAX_MEMORY_BYTES)),
  min_free_disk: bytes(0, MAX_MEMORY_BYTES).default(64_000_000),
  files_quota: optional(bytes(0, MAX_DISK_BYTES)),
  account_concurrency: wholeNumber(1, 1_000_000).default(2_000),
  cached_contents: z.strictObject({
    count: wholeNumber(0, 1_000_000).default(1_000),
    bytes: bytes(0, MAX_DISK_BYTES).default(1_000_000_000),
  }).prefault({}),
  idempotency: z.strictObject({
    enabled: boolean().default(true),
    reply: bytes(0, 64_000_000).default(8_000_000),
    account: bytes(0, MAX_DISK_BYTES).default(100_000_000),
    keys: wholeNumber(1, 10_000_000).default(10_000),
    lease: seconds(1, 600).default(30_000),
  }).transform(({ enabled, reply, account, keys, lease }) => ({
    isEnabled: enabled,
    replyBytes: reply,
    accountBytes: account,
    accountKeys: keys,
    leaseMs: lease,
  })).prefault({}),
  resume: z.strictObject({
    enabled: boolean().default(true),
    stream: bytes(0, 1_000_000_000).default(8_000_000),
    account: bytes(0, MAX_MEMORY_BYTES).default(32_000_000),
    streams: wholeNumber(1, 100_000).default(100),
    keep: seconds(1, DAY).default(600_000),
  }).transform(({ enabled, stream, account, streams, keep }) => ({
    isEnabled: enabled,
    streamBytes: stream,
    accountBytes: account,
    accountStreams: streams,
    keepMs: keep,
  })).prefault({}),
  video_polling: rate(60, 10),
  reads: rate(600, 100),
  dry_runs: rate(60, 60),
  video_event_streams: wholeNumber(1, 100_000).default(100),
  vendor_polling: z.strictObject({
    first: seconds(0.01, 3600).default(10_000),
    least: seconds(0.01, 3600).default(5_000),
    most: seconds(0.01, 3600).default(30_000),
    per_second: number(0.1, 1_000).default(20),
  }).transform(({ first, least, most, per_second: perSecond }) => ({
    firstMs: first,
    minMs: least,
    maxMs: Math.max(least, most),
    perSecond,
  }))
    .prefault({}),
  text_body: body().default(20_000_000),
  large_body: bytes(0, MAX_BODY_BYTES).default(2_000_000),
  image_body: body().default(50_000_000),
  edit_body: body().default(50_000_000),
  edit_file: body().default(15_000_000),
  video_body: body().default(50_000_000),
  input_body: body().default(4_000_000),
  audio_body: body().default(30_000_000),
  other_body: body().default(64_000),
  body_idle: seconds(0.01, 3600).default(15_000),
  video_deadline: seconds(1, 30 * DAY).default(DAY * 1000),
  video_doubt: seconds(0.1, DAY).default(300_000),
  signed_url: seconds(1, 7 * DAY).default(DAY * 1000),
}).transform((limits) => ({
  memoryBytes: limits.memory,
  minFreeDiskBytes: limits.min_free_disk,
  filesQuotaBytes: limits.files_quota,
  accountConcurrency: limits.account_concurrency,
  cachedContents: limits.cached_contents,
  idempotency: limits.idempotency,
  resume: limits.resume,
  videoPolling: limits.video_polling,
  reads: limits.reads,
  dryRuns: limits.dry_runs,
  videoEventStreams: limits.video_event_streams,
  vendorPolling: limits.vendor_polling,
  textBodyBytes: limits.text_body,
  largeBodyBytes: limits.large_body,
  imageBodyBytes: limits.image_body,
  editBodyBytes: limits.edit_body,
  editFileBytes: limits.edit_file,
  videoBodyBytes: limits.video_body,
  inputBodyBytes: limits.input_body,
  audioBodyBytes: limits.audio_body,
  otherBodyBytes: limits.other_body,
  bodyIdleMs: limits.body_idle,
  videoDeadlineMs: limits.video_deadline,
  videoDoubtMs: limits.video_doubt,
  signedUrlMs: limits.signed_url,
}));

/** The `limits` section. Throws {@linkcode z.ZodError} with the path of every bad field. */
export function readLimitsSection(value: unknown, context?: ReadContext): LimitsConfig {
  return limitsSchema.parse(value, context);
}
