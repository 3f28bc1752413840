import * as z from "zod";
import type { LogLevel } from "../lib/log.ts";
import { boolean, httpAddress, number, optional, type ReadContext, seconds, text } from "../lib/settings.ts";
import { HEADERS_FIELD } from "../upstreams/provider_config.ts";

/** How durable charges are, and how videos are held and charged. */
export interface BillingConfig {
  /**
   * Whether the estimate of a video is held before the task is accepted. Default: true. Source:
   * docs/api/money.md#holds.
   */
  readonly preauthorize: boolean;
  /**
   * The hold of a create that the vendor never confirmed: released, or captured up to the estimate. Default: `release`.
   */
  readonly unknownCreates: "release" | "capture";
  /**
   * What a charge survives before the last byte of its reply is sent: the end of the process, or also a power failure.
   * Default: `power` for a store in PostgreSQL, otherwise `process`. Source:
   * docs/configuration.md#durability-of-charges.
   */
  readonly durability: "process" | "power";
}

/** How webhooks are delivered. */
export interface WebhooksConfig {
  /** Timeout of one attempt in milliseconds. Default: 10 s. */
  readonly timeoutMs: number;
}

/** Which log lines are written. */
export interface LogsConfig {
  /** The lowest level that is written. Default: `info`. */
  readonly level: LogLevel;
}

/** The schema of the `billing` section. */
export const billingSchema: z.ZodType<WrittenBilling> = z.strictObject({
  preauthorize: boolean().default(true),
  unknown_creates: z.enum(["release", "capture"]).default("release"),
  durability: z.enum(["process", "power"]).nullable().default(null),
}).transform(({ unknown_creates, ...billing }) => ({ ...billing, unknownCreates: unknown_creates }));

/** The schema of the `webhooks` section. */
export const webhooksSchema: z.ZodType<WebhooksConfig> = z.strictObject({ timeout: seconds(0.01, 300).default(10_000) })
  .transform(({ timeout }) => ({ timeoutMs: timeout }));

/** The schema of the `logs` section. */
export const logsSchema: z.ZodType<LogsConfig> = z.strictObject({
  level: z.enum(["debug", "info", "warn", "error"]).default("info"),
});

/** The `billing` section as written; null for a durability that follows from the store. */
export type WrittenBilling = Omit<BillingConfig, "durability"> & {
  readonly durability: BillingConfig["durability"] | null;
};

/** The `billing` section. Throws {@linkcode z.ZodError} with the path of every bad field. */
export function readBillingSection(value: unknown, context?: ReadContext): WrittenBilling {
  return billingSchema.parse(value, context);
}

/** The `webhooks` section. Throws {@linkcode z.ZodError} with the path of every bad field. */
export function readWebhooksSection(value: unknown, context?: ReadContext): WebhooksConfig {
  return webhooksSchema.parse(value, context);
}

/** The `logs` section. Throws {@linkcode z.ZodError} with the path of every bad field. */
export function readLogsSection(value: unknown, context?: ReadContext): LogsConfig {
  return logsSchema.parse(value, context);
}

/** Where spans are exported, and which. */
export interface TracingConfig {
  /** The collector's address for traces, such as `http://collector:4318/v1/traces`. */
  readonly endpoint: string;
  /** Sent with every export, such as a credential. */
  readonly headers: Readonly<Record<string, string>>;
  /** The share of the traces that begin at the gateway and are exported, from 0 to 1. Default: 1. */
  readonly ratio: number;
  /** The attribute `service.name`. Default: `switchyard`. */
  readonly serviceName: string;
}

/** The schema of the `tracing` section. */
export const tracingSchema: z.ZodType<TracingConfig | null> = optional(
  z.strictObject({
    endpoint: httpAddress(),
    headers: HEADERS_FIELD,
    ratio: number(0, 1).default(1),
    service_name: text(1, 200).default("switchyard"),
  }).transform(({ service_name: serviceName, ...rest }) => ({ ...rest, serviceName })),
);

/** The `tracing` section; null if tracing is off. Throws {@linkcode z.ZodError}. */
export function readTracingSection(value: unknown, context?: ReadContext): TracingConfig | null {
  return tracingSchema.parse(value, context);
}

const CATALOG_EXPECTATION = "built_in, or nothing";

/** The schema of the setting `catalog`. */
export const catalogSchema: z.ZodType<"built_in" | null> = optional(z.literal("built_in", CATALOG_EXPECTATION));

/**
 * The setting `catalog`: `built_in` adds the built-in models of the providers to `models`; null if it is not set.
 *
 * @throws {z.ZodError} If it is another value.
 */
export function readCatalogSection(value: unknown, context?: ReadContext): "built_in" | null {
  return catalogSchema.parse(value, context);
}

/** The schema of the setting `console`. */
export const consoleSchema: z.ZodType<boolean | null> = optional(boolean());

/** The setting `console`; null if it is not set. Throws {@linkcode z.ZodError} if it is not a boolean. */
export function readConsoleSection(value: unknown, context?: ReadContext): boolean | null {
  return consoleSchema.parse(value, context);
}
