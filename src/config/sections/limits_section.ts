import { section, setting } from "../../platform/lib/settings/setting.ts";
import { boolean, bytes, number, seconds, wholeNumber } from "../../platform/lib/settings/settings.ts";

const MAX_BODY_BYTES = 1_000_000_000;
const DAY = 86_400;
const MIN_MEMORY_BYTES = 16_000_000;
const MAX_MEMORY_BYTES = 1_000_000_000_000;
const MAX_DISK_BYTES = 999_999_999_999_999;

/** The largest body of a kind of request. */
function body(fallback: number, of: string, example: string) {
  return setting(bytes(1, MAX_BODY_BYTES), { default: fallback, text: `The largest ${of}`, example });
}

/** The rate of a kind of reads, in the period `per`. */
function rate(requests: RateFacts, burst: RateFacts) {
  return section({
    requests: setting(wholeNumber(1, 1_000_000), { ...requests, unit: "requests" }),
    per: setting(seconds(0.001, DAY), { default: 60, text: "The period of `requests`", example: 10 }),
    burst: setting(wholeNumber(0, 1_000_000), { ...burst, unit: "requests" }),
  }).prefault({});
}

interface RateFacts {
  readonly default: number;
  readonly text: string;
  readonly example: number;
}

/** The `limits` section: limits on callers' requests, on memory, and on disk. */
export const limitsSchema = section({
  memory: setting(bytes(MIN_MEMORY_BYTES, MAX_MEMORY_BYTES), {
    default: null,
    isLive: false,
    text: "[Memory](#memory) of all requests together",
    example: "1GiB",
    otherwise: "a quarter of the machine's",
  }),
  min_free_disk: setting(bytes(0, MAX_MEMORY_BYTES), {
    default: 64_000_000,
    isLive: false,
    text: "Free disk space below which paid requests are refused",
    example: "1GB",
  }),
  files_quota: setting(bytes(0, MAX_DISK_BYTES), {
    default: null,
    isLive: false,
    text: "Disk space for copies of results and files of callers",
    example: "500GB",
    otherwise: "the disk without `min_free_disk`",
  }),
  account_files: setting(bytes(0, MAX_DISK_BYTES), {
    default: 10_000_000_000,
    text: "Disk space for the files that callers of one account store",
    example: "50GB",
  }),
  account_concurrency: setting(wholeNumber(1, 1_000_000), {
    default: 2_000,
    text: "Open requests of an account; above it 429",
    example: 5000,
    unit: "requests",
  }),
  cached_contents: section({
    count: setting(wholeNumber(0, 1_000_000), {
      default: 1_000,
      text: "Cached contents of an API key",
      example: 100,
      unit: "cached contents",
    }),
    bytes: setting(bytes(0, MAX_DISK_BYTES), {
      default: 1_000_000_000,
      text: "Bytes of the cached contents of an API key",
      example: "200MB",
    }),
  }).prefault({}),
  idempotency: section({
    enabled: setting(boolean(), {
      default: true,
      as: "isEnabled",
      text: "Whether `Idempotency-Key` has an effect: [idempotency](api/idempotency.md)",
    }),
    reply: setting(bytes(0, 64_000_000), {
      default: 8_000_000,
      text: "The largest reply that is stored",
      example: "1MB",
    }),
    account: setting(bytes(0, MAX_DISK_BYTES), {
      default: 100_000_000,
      text: "All stored replies of an account within 24 hours; 0 stores none",
      example: "1GB",
    }),
    keys: setting(wholeNumber(1, 10_000_000), {
      default: 10_000,
      as: "accountKeys",
      text: "Keys that an account uses within 24 hours; above it 429",
      example: 100000,
      unit: "keys",
    }),
    lease: setting(seconds(1, 600), {
      default: 30,
      text: "After how long a key is free whose process has ended",
      example: 60,
    }),
  }).prefault({}),
  resume: section({
    enabled: setting(boolean(), {
      default: true,
      as: "isEnabled",
      text: "Whether streams can be [resumed](api/resuming.md)",
    }),
    stream: setting(bytes(0, 1_000_000_000), {
      default: 8_000_000,
      text: "Events of one stream; of a longer one the last are kept",
      example: "1MB",
    }),
    account: setting(bytes(0, MAX_MEMORY_BYTES), {
      default: 32_000_000,
      text: "Events of all streams of an account",
      example: "100MB",
    }),
    streams: setting(wholeNumber(1, 100_000), {
      default: 100,
      as: "accountStreams",
      text: "Such streams of an account; above it 429",
      example: 20,
      unit: "streams",
    }),
    keep: setting(seconds(1, DAY), {
      default: 600,
      text: "How long events are kept after the end of their stream",
      example: 60,
    }),
  }).prefault({}),
  video_polling: rate(
    { default: 60, text: "Polls of an API key in each period `per`", example: 600 },
    { default: 10, text: "Simultaneous polls, in addition to `requests`", example: 50 },
  ),
  reads: rate(
    { default: 600, text: "Other reads of an API key in each period `per`", example: 1200 },
    { default: 100, text: "Simultaneous reads", example: 50 },
  ),
  dry_runs: rate(
    { default: 60, text: "Dry runs of an API key in each period `per`", example: 600 },
    { default: 60, text: "Simultaneous dry runs", example: 20 },
  ),
  video_event_streams: setting(wholeNumber(1, 100_000), {
    default: 100,
    text: "Open event streams of videos of an API key",
    example: 500,
    unit: "streams",
  }),
  vendor_polling: setting(
    section({
      first: setting(seconds(0.01, 3600), {
        default: 10,
        text: "From the creation of a video to its first poll at the vendor",
        example: 5,
      }),
      least: setting(seconds(0.01, 3600), {
        default: 5,
        as: "minMs",
        text: "The shortest pause between two polls of a video",
        example: 10,
      }),
      most: setting(seconds(0.01, 3600), {
        default: 30,
        as: "maxMs",
        text: "The longest pause between two polls of a video",
        example: 60,
      }),
      per_second: setting(number(0.1, 1_000), {
        default: 20,
        text: "Polls at one provider",
        example: 5,
        unit: "requests per second",
      }),
    }).transform((read) => ({ ...read, maxMs: Math.max(read.minMs, read.maxMs) })),
    { default: {}, isLive: false, text: "How often vendors are polled for videos" },
  ),
  text_body: body(20_000_000, "body of chat, responses, messages and generated content", "40MB"),
  large_body: setting(bytes(0, MAX_BODY_BYTES), {
    default: 2_000_000,
    text: "Above this size, text requests are handled, and requests for images and videos read, in separate threads",
    example: "1MB",
  }),
  image_body: body(50_000_000, "body of an image generation", "20MB"),
  edit_body: body(50_000_000, "body of an image edit", "20MB"),
  edit_file: body(15_000_000, "file of an image edit", "10MB"),
  video_body: body(50_000_000, "body of a video", "100MB"),
  input_body: body(4_000_000, "body of embeddings, ranks, moderations and speech", "8MB"),
  audio_body: body(30_000_000, "form with audio", "100MB"),
  other_body: body(64_000, "body elsewhere", "1MB"),
  body_idle: setting(seconds(0.01, 3600), { default: 15, text: "The longest pause in a request body", example: 30 }),
  video_deadline: setting(seconds(1, 30 * DAY), { default: DAY, text: "When a pending video expires", example: 7200 }),
  video_doubt: setting(seconds(0.1, DAY), {
    default: 300,
    text: "When an unconfirmed create counts as not made, or as failed",
    example: 600,
  }),
  signed_url: setting(seconds(1, 7 * DAY), {
    default: DAY,
    text: "How long a signed address of a result is valid",
    example: 3600,
  }),
}).prefault({});
