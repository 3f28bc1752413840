import * as z from "zod";
import { section, setting } from "../../platform/lib/settings/setting.ts";
import { boolean, bytes, days, secret, text } from "../../platform/lib/settings/settings.ts";

const MAX_DAYS = 3650;
const MIN_DAYS = 0.01;

/** Where the bodies of keys and accounts with `capture` are kept. */
const capture = section({
  secret_key: setting(secret(16), {
    as: "secret",
    text: "Encrypts captured bodies",
    example: "${SWITCHYARD_CAPTURE_KEY}",
  }),
  body: setting(bytes(1, 1_000_000), { default: 64_000, text: "The most of each body", example: "16KB" }),
  days: setting(days(MIN_DAYS, MAX_DAYS), {
    default: 7,
    as: "retentionMs",
    text: "How long bodies are kept",
    example: 1,
  }),
  max_bytes: setting(bytes(1_000_000, 1e15), {
    default: 1e9,
    text: "All bodies; above it the oldest are removed",
    example: "10GB",
  }),
});

const fields = section({
  enabled: setting(boolean(), {
    default: true,
    as: "isEnabled",
    text: "Whether each request leaves a row; `request_log: false` is short for false",
  }),
  path: setting(text(1, 4096), {
    default: null,
    text: "A separate SQLite file",
    example: "/var/lib/switchyard/requests.db",
    otherwise: "the store's file with `.requests`, or the store's database",
  }),
  days: setting(days(MIN_DAYS, MAX_DAYS), {
    default: 30,
    as: "retentionMs",
    text: "How long rows are kept",
    example: 90,
  }),
  max_bytes: setting(bytes(1_000_000, 1e15), {
    default: 5e9,
    text: "All rows and indexes; above it the oldest rows are removed",
    example: "20GB",
  }),
  capture: capture.nullish().transform((given) => given ?? null),
});

/** The `request_log` section: `true`, `false`, or whether requests are logged, where, and how long. */
export const requestLogSchema = z.preprocess(
  (value) => typeof value === "boolean" ? { enabled: value } : value,
  fields,
).prefault({});

/** The `request_log` section as it was read. */
export type RequestLogConfig = z.output<typeof requestLogSchema>;
