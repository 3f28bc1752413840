import { section, setting } from "../../platform/lib/settings/setting.ts";
import { optional, seconds } from "../../platform/lib/settings/settings.ts";

const DAY = 86_400;
const MAX_SECONDS = 3_650 * DAY;
const MIN_SECONDS = 60;
/** The shortest lifetime of a cached content. */
const MIN_CACHED_CONTENT_SECONDS = 600;
const NO_LIMIT = "no limit";

const span = (min = MIN_SECONDS) => optional(seconds(min, MAX_SECONDS));

/** The `retention` section: how long ended records and files are kept; null keeps them. */
export const retentionSchema = section({
  tasks: setting(span(), { text: "Finished video tasks, from their end", example: 2592000, otherwise: NO_LIMIT }),
  deliveries: setting(span(), {
    text: "Ended webhook deliveries, from their end",
    example: 2592000,
    otherwise: NO_LIMIT,
  }),
  files: setting(span(), {
    default: 7 * DAY,
    text: "Copies of results and files of callers, from their creation; null: no limit",
    example: 86400,
  }),
  cached_contents: setting(span(MIN_CACHED_CONTENT_SECONDS), {
    text: "Cached contents, from their creation",
    example: 86400,
    otherwise: NO_LIMIT,
  }),
  audit: setting(span(), { default: 400 * DAY, text: "Entries of the audit log; null: no limit", example: 31536000 }),
}).prefault({});
