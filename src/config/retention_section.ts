import * as z from "zod";
import { optional, type ReadContext, seconds } from "../lib/settings.ts";

/** How long ended records and files are kept, in milliseconds; null keeps them. */
export interface RetentionConfig {
  /** Finished video tasks, from their end. Default: null, so that the final state stays available. */
  readonly tasksMs: number | null;
  /** Webhook deliveries with their attempts, from the delivery or the last attempt. Default: null. */
  readonly deliveriesMs: number | null;
  /** Copies of results, from the end of their task. Default: seven days. */
  readonly filesMs: number | null;
  /**
   * Cached contents, from their creation, regardless of extensions. Default: null, so that extensions have no limit.
   */
  readonly cachedContentsMs: number | null;
  /** Entries of the audit log. Default: 400 days. */
  readonly auditMs: number | null;
}

const DAY_SECONDS = 86_400;
const MAX_SECONDS = 3_650 * DAY_SECONDS;
const DEFAULT_AUDIT_SECONDS = 400 * DAY_SECONDS;
const MIN_SECONDS = 60;
/** The shortest lifetime of a cached content. */
const MIN_CACHED_CONTENT_SECONDS = 600;

const span = () => optional(seconds(MIN_SECONDS, MAX_SECONDS));

/** The schema of the `retention` section. */
export const retentionSchema: z.ZodType<RetentionConfig> = z.strictObject({
  tasks: span(),
  deliveries: span(),
  files: span().prefault(7 * DAY_SECONDS),
  cached_contents: optional(seconds(MIN_CACHED_CONTENT_SECONDS, MAX_SECONDS)),
  audit: span().prefault(DEFAULT_AUDIT_SECONDS),
}).transform(({ tasks, deliveries, files, cached_contents, audit }) => ({
  tasksMs: tasks,
  deliveriesMs: deliveries,
  filesMs: files,
  cachedContentsMs: cached_contents,
  auditMs: audit,
}));

/** The `retention` section. Throws {@linkcode z.ZodError} with the path of every bad field. */
export function readRetentionSection(value: unknown, context?: ReadContext): RetentionConfig {
  return retentionSchema.parse(value, context);
}
