import * as z from "zod";
import type { CacheCaps } from "../caches/cache_parts.ts";
import { bytes, number, optional, type ReadContext, seconds, wholeNumber } from "../lib/settings.ts";
import type { PollSchedule } from "../videos/polling/poll_schedule.ts";
import type { PollingTerms } from "../videos/polling_limit.ts";

/** What a single caller may ask of the gateway. */
export interface LimitsConfig {
  /**
   * Bytes of memory that bodies, downloads and replies under way may hold together. Default, as null: a quarter of the
   * machine's memory; see `defaultMemoryLimit`.
   */
  readonly memoryBytes: number | null;
  /** Bytes of disk that must be free where the store and the files lie; below, paid work is refused. Default: 64 MB. */
  readonly minFreeDiskBytes: number;
  /** Bytes that copies of results may take up on disk. Default, as null: what the disk has, less `minFreeDiskBytes`. */
  readonly filesQuotaBytes: number | null;
  /** On cached contents of one credential. */
  readonly cachedContents: CacheCaps;
  /** On `GET /v1/videos/{id}`. */
  readonly videoPolling: PollingTerms;
  /** How many streams of `GET /v1/videos/{id}/events` one credential may read at once. Default: 100. */
  readonly videoEventStreams: number;
  /** Of video tasks under way. */
  readonly vendorPolling: PollSchedule;
  /** Bytes of a conversation request. Default: 20 MB. */
  readonly textBodyBytes: number;
  /** Bytes beyond which a conversation request is answered in a thread of its own kind. Default: 128 KB. */
  readonly largeBodyBytes: number;
  /** Bytes of an image generation request, references included. Default: 50 MB. */
  readonly imageBodyBytes: number;
  /** Bytes of an image edit request. Default: 50 MB, see docs/api/limits.md#bodies. */
  readonly editBodyBytes: number;
  /** Bytes of one file in an image edit request. Default: 15 MB, see docs/api/limits.md#bodies. */
  readonly editFileBytes: number;
  /** Bytes of a video create request, references included. Default: 50 MB. */
  readonly videoBodyBytes: number;
  /** Bytes of any other request. Default: 64 KB. */
  readonly otherBodyBytes: number;
  /** How long a request body may pause, in milliseconds. Default: 15 s. */
  readonly bodyIdleMs: number;
  /** How long a video task may stay pending, in milliseconds; then it expires. Default: 24 h. */
  readonly videoDeadlineMs: number;
  /**
   * After how long a video's creation that a vendor did not answer and cannot find was never made, in milliseconds;
   * longer than any creation takes. Default: 300 s.
   */
  readonly videoDoubtMs: number;
  /** How long a signed result address works, in milliseconds; at most seven days. Default: 24 h. */
  readonly signedUrlMs: number;
}

const LARGEST_BODY = 1_000_000_000;
const DAY = 86_400;
const MIN_MEMORY_BYTES = 16_000_000;
const MAX_MEMORY_BYTES = 1_000_000_000_000;
const MAX_DISK_BYTES = 999_999_999_999_999;

const body = () => bytes(1, LARGEST_BODY);

const schema: z.ZodType<LimitsConfig> = z.strictObject({
  memory: optional(bytes(MIN_MEMORY_BYTES, MAX_MEMORY_BYTES)),
  min_free_disk: bytes(0, MAX_MEMORY_BYTES).default(64_000_000),
  files_quota: optional(bytes(0, MAX_DISK_BYTES)),
  cached_contents: z.strictObject({
    count: wholeNumber(0, 1_000_000).default(1_000),
    bytes: bytes(0, MAX_DISK_BYTES).default(1_000_000_000),
  }).prefault({}),
  video_polling: z.strictObject({
    requests: wholeNumber(1, 1_000_000).default(60),
    per: seconds(0.001, DAY).default(60_000),
    burst: wholeNumber(0, 1_000_000).default(10),
  }).transform(({ requests, per, burst }) => ({ requests, perMs: per, burst })).prefault({}),
  video_event_streams: wholeNumber(1, 100_000).default(100),
  vendor_polling: z.strictObject({
    first: seconds(0.01, 3600).default(10_000),
    least: seconds(0.01, 3600).default(5_000),
    most: seconds(0.01, 3600).default(30_000),
    per_second: number(0.1, 1_000).default(20),
  }).transform(({ first, least, most, per_second: perSecond }) => ({
    firstMs: first,
    leastMs: least,
    mostMs: Math.max(least, most),
    perSecond,
  }))
    .prefault({}),
  text_body: body().default(20_000_000),
  large_body: bytes(0, LARGEST_BODY).default(128_000),
  image_body: body().default(50_000_000),
  edit_body: body().default(50_000_000),
  edit_file: body().default(15_000_000),
  video_body: body().default(50_000_000),
  other_body: body().default(64_000),
  body_idle: seconds(0.01, 3600).default(15_000),
  video_deadline: seconds(1, 30 * DAY).default(DAY * 1000),
  video_doubt: seconds(0.1, DAY).default(300_000),
  signed_url: seconds(1, 7 * DAY).default(DAY * 1000),
}).transform((limits) => ({
  memoryBytes: limits.memory,
  minFreeDiskBytes: limits.min_free_disk,
  filesQuotaBytes: limits.files_quota,
  cachedContents: limits.cached_contents,
  videoPolling: limits.video_polling,
  videoEventStreams: limits.video_event_streams,
  vendorPolling: limits.vendor_polling,
  textBodyBytes: limits.text_body,
  largeBodyBytes: limits.large_body,
  imageBodyBytes: limits.image_body,
  editBodyBytes: limits.edit_body,
  editFileBytes: limits.edit_file,
  videoBodyBytes: limits.video_body,
  otherBodyBytes: limits.other_body,
  bodyIdleMs: limits.body_idle,
  videoDeadlineMs: limits.video_deadline,
  videoDoubtMs: limits.video_doubt,
  signedUrlMs: limits.signed_url,
}));

/** The `limits` section. Throws {@linkcode z.ZodError} with the path of every bad field. */
export function readLimitsSection(value: unknown, context?: ReadContext): LimitsConfig {
  return schema.parse(value, context);
}
