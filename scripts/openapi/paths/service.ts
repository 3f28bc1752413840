import * as z from "zod";
import { PROVIDER_STATES } from "../../../src/platform/names/provider_halt.ts";
import { inPath, inQuery, type Operation } from "../operation.ts";
import { IF_NONE_MATCH } from "../parameters.ts";
import { about } from "../schema.ts";

const shared = { tag: "Service", face: "service", auth: "none" } as const;
const plain = (description: string) => ({ description, other: [{ mediaType: "text/plain" }] });
const page = { description: "The page", other: [{ mediaType: "text/html" }] };

const Readiness = z.object({
  status: z.enum(["ready", "not_ready"]),
  reason: z.string().nullable().optional(),
  warnings: z.array(z.string()).optional(),
  providers: z.array(z.object({
    name: z.string(),
    service: about(z.enum(PROVIDER_STATES), "What the operator lets it do."),
    state: z.enum(["ready", "degraded", "resting", "misconfigured"]),
  })),
  files: z.object({ bytes: z.int(), quota_bytes: z.int().nullable(), state: z.string() }),
  unhandled_errors: z.int(),
}).meta({ id: "Readiness" });

/** The endpoints about the gateway itself. */
export const SERVICE_OPERATIONS: readonly Operation[] = [
  {
    ...shared,
    id: "readService",
    summary: "Name the service",
    replies: {
      200: {
        description: "The service; a page with links if `Accept` has `text/html`",
        json: z.object({ service: z.literal("switchyard"), status: z.literal("ok") }),
        other: page.other,
      },
    },
    errors: [405],
  },
  {
    ...shared,
    id: "readHealth",
    summary: "Check that the process runs",
    replies: { 200: plain("It runs") },
    errors: [405],
  },
  {
    ...shared,
    id: "readReadiness",
    summary: "Check that the gateway accepts work",
    auth: "optional",
    parameters: [
      inQuery("verbose", "Adds details as JSON. It needs an admin key, except at `server.admin_listen`.", z.string()),
    ],
    replies: {
      200: { ...plain("It accepts work"), json: Readiness },
      503: { ...plain("It does not accept work"), json: Readiness },
    },
    errors: [405],
  },
  {
    ...shared,
    id: "readDescription",
    summary: "Read this description",
    parameters: [IF_NONE_MATCH],
    replies: {
      200: { description: "The description", json: z.looseObject({ openapi: z.string() }), headers: ["ETag"] },
      304: { description: "Unchanged", headers: ["ETag"] },
    },
    errors: [405],
  },
  {
    ...shared,
    id: "readDocumentation",
    summary: "Read the documentation",
    replies: { 200: page },
    errors: [405],
  },
  {
    ...shared,
    id: "readDocumentationPage",
    summary: "Read a page of the documentation",
    parameters: [inPath("path", "The name of the page.", z.string())],
    replies: { 200: { ...page, other: [...page.other, { mediaType: "text/css" }] } },
    errors: [404],
  },
  {
    ...shared,
    id: "readMetrics",
    summary: "Read metrics in the format of Prometheus",
    description: "At `server.admin_listen` it needs no key.",
    face: "admin",
    auth: "admin",
    replies: { 200: plain("The metrics") },
    errors: [403],
  },
  {
    ...shared,
    id: "receiveWebhook",
    tag: "Webhooks",
    summary: "Send an event to a test receiver",
    parameters: [inPath("id", "The id of the receiver.", z.string())],
    body: { isAny: true },
    replies: { 200: { description: "Received", json: z.object({ received: z.literal(true) }) } },
    errors: [404, 413],
  },
];
