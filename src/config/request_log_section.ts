import * as z from "zod";
import { boolean, bytes, number, optional, type ReadContext, text } from "../lib/settings.ts";

/** Whether requests are logged, where, and how long. */
export interface RequestLogConfig {
  /** Whether each request leaves a row. Default: true. */
  readonly isEnabled: boolean;
  /** The file of the log. Default, as null: the store's file with `.requests`; in memory beside a store in memory. */
  readonly path: string | null;
  /** How long rows are kept, in milliseconds. Default: 30 days. */
  readonly retentionMs: number;
  /** The most bytes of all rows and indexes. The oldest rows are removed first. Default: 5 GB. */
  readonly maxBytes: number;
}

const DAY_MS = 86_400_000;

const section = z.strictObject({
  enabled: boolean().default(true),
  path: optional(text(1, 4096)),
  days: number(0.01, 3650, "days").default(30),
  max_bytes: bytes(1_000_000, 1e15).default(5e9),
});

const schema: z.ZodType<RequestLogConfig> = z.preprocess(
  (value) => typeof value === "boolean" ? { enabled: value } : value,
  section,
).transform(({ enabled, path, days, max_bytes }) => ({
  isEnabled: enabled,
  path,
  retentionMs: Math.round(days * DAY_MS),
  maxBytes: max_bytes,
}));

/** The `request_log` section: `true`, `false` or its options. Throws {@linkcode z.ZodError}. */
export function readRequestLogSection(value: unknown, context?: ReadContext): RequestLogConfig {
  return schema.parse(value, context);
}
