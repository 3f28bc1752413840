import * as z from "zod";
import { boolean, bytes, number, optional, type ReadContext, secret, text } from "../lib/settings.ts";

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
  /** Where the bodies of keys and accounts with `capture` are kept. Default, as null: no bodies are kept. */
  readonly capture: CaptureConfig | null;
}

/** How captured bodies are kept. */
export interface CaptureConfig {
  /** Encrypts the bodies, at least 16 characters. */
  readonly secret: string;
  /** The most bytes of each body. Default: 64 KB. */
  readonly bodyBytes: number;
  /** How long bodies are kept, in milliseconds. Default: 7 days. */
  readonly retentionMs: number;
  /** The most bytes of all bodies, as encrypted. The oldest are removed first. Default: 1 GB. */
  readonly maxBytes: number;
}

const DAY_MS = 86_400_000;

const section = z.strictObject({
  enabled: boolean().default(true),
  path: optional(text(1, 4096)),
  days: number(0.01, 3650, "days").default(30),
  max_bytes: bytes(1_000_000, 1e15).default(5e9),
  capture: z.strictObject({
    secret_key: secret(16),
    body: bytes(1, 1_000_000).default(64_000),
    days: number(0.01, 3650, "days").default(7),
    max_bytes: bytes(1_000_000, 1e15).default(1e9),
  }).transform(({ secret_key, body, days, max_bytes }) => ({
    secret: secret_key,
    bodyBytes: body,
    retentionMs: Math.round(days * DAY_MS),
    maxBytes: max_bytes,
  })).nullish().transform((capture) => capture ?? null),
});

/** The schema of the `request_log` section. */
export const requestLogSchema: z.ZodType<RequestLogConfig> = z.preprocess(
  (value) => typeof value === "boolean" ? { enabled: value } : value,
  section,
).transform(({ enabled, path, days, max_bytes, capture }) => ({
  isEnabled: enabled,
  path,
  retentionMs: Math.round(days * DAY_MS),
  maxBytes: max_bytes,
  capture,
}));

/** The `request_log` section: `true`, `false` or its options. Throws {@linkcode z.ZodError}. */
export function readRequestLogSection(value: unknown, context?: ReadContext): RequestLogConfig {
  return requestLogSchema.parse(value, context);
}
