import * as z from "zod";
import type { Parameter } from "./operation.ts";

function header(name: string, description: string, schema: z.ZodType): Parameter {
  return { in: "header", name, description, schema };
}

/** Pins a request to one provider. */
export const PIN: Parameter = header(
  "X-Service-Provider-Type",
  "Pins the request to one provider of the model, by its configured name.",
  z.string(),
);

/** Checks and prices a request without executing it. */
export const DRY_RUN: Parameter = header(
  "X-Service-Dry-Run",
  "`true` checks and prices the request only; the reply is then a `DryRun`.",
  z.enum(["true", "false"]),
);

/** Repeats the reply to an earlier request. */
export const IDEMPOTENCY_KEY: Parameter = header(
  "Idempotency-Key",
  "A repeat with the same key and body returns the first reply and is not charged again.",
  z.string().regex(/^[\x21-\x7e]{1,255}$/),
);

/** Keeps the events of a stream. */
export const RESUME: Parameter = header(
  "X-Service-Resume",
  "`true` keeps the events of the stream, which `GET /v1/requests/{id}/stream` then continues.",
  z.enum(["true", "false"]),
);

/** Continues a stream. */
export const LAST_EVENT_ID: Parameter = header(
  "Last-Event-ID",
  "The id of the last event that was received; the stream continues after it.",
  z.string(),
);

/** The version of the message protocol. */
export const MESSAGE_VERSIONS: readonly Parameter[] = [
  header(
    "msg-version",
    "The version of the protocol. Required unless `anthropic-version` is sent.",
    z.literal("2023-06-01"),
  ),
  header(
    "anthropic-version",
    "Replaces `msg-version`; sent by the vendor's own clients.",
    z.string().regex(/^\d{4}-\d{2}-\d{2}$/),
  ),
];

/** Leaves out what the caller has already. */
export const IF_NONE_MATCH: Parameter = header("If-None-Match", "The entity tag of the caller's copy.", z.string());

/** The headers of every request that charges. */
export const PAID_HEADERS: readonly Parameter[] = [PIN, DRY_RUN, IDEMPOTENCY_KEY];
