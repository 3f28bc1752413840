import * as z from "zod";
import type { Face } from "./operation.ts";
import { about } from "./schema.ts";

const message = () => about(z.string(), "For people; it may change.");
const docUrl = () => about(z.url(), "Where the code is described.").optional();

const DefaultError = z.object({
  error: z.object({
    message: message(),
    type: z.string(),
    code: about(z.string().nullable(), "A code of the gateway, or that of the vendor which refused the request."),
    param: about(z.string().nullable(), "The invalid field."),
    doc_url: docUrl(),
  }),
}).meta({ id: "DefaultError" });

const VideoError = z.object({
  error: z.object({
    code: about(z.union([z.string(), z.int()]), "The code; for OpenRouter's client the HTTP status."),
    message: message(),
    type: about(z.enum(["invalid_provider_type", "provider_type_unavailable"]), "Of errors about the pin.").optional(),
    metadata: about(z.looseObject({ code: z.string() }), "For OpenRouter's client: the code.").optional(),
  }),
}).meta({ id: "VideoError" });

const MessageError = z.object({
  type: z.literal("error"),
  error: z.object({
    type: z.string(),
    message: message(),
    details: z.object({ error_code: z.string(), unsupported: z.array(z.string()).optional() }).optional(),
    doc_url: docUrl(),
  }),
  request_id: z.string(),
}).meta({ id: "MessageError" });

const ContentError = z.object({
  error: z.object({
    code: about(z.int(), "The HTTP status."),
    message: message(),
    status: z.string(),
    type: about(z.enum(["invalid_provider_type", "provider_type_unavailable"]), "Of errors about the pin.").optional(),
    details: about(z.array(z.looseObject({ "@type": z.string() })), "The field, the limit and the wait.").optional(),
  }),
}).meta({ id: "ContentError" });

const AdminError = z.object({
  error: z.object({
    code: z.string(),
    message: message(),
    field: about(z.string(), "The invalid field.").optional(),
    problems: about(z.array(z.string()), "Every problem of a configuration.").optional(),
    doc_url: docUrl(),
  }),
}).meta({ id: "AdminError" });

/** The body of errors, by what the endpoint is part of. */
export const ERRORS: Readonly<Record<Face, { readonly name: string; readonly schema: z.ZodType }>> = {
  default: { name: "DefaultError", schema: DefaultError },
  video: { name: "VideoError", schema: VideoError },
  message: { name: "MessageError", schema: MessageError },
  content: { name: "ContentError", schema: ContentError },
  admin: { name: "AdminError", schema: AdminError },
  service: { name: "DefaultError", schema: DefaultError },
};

/** The errors of every endpoint that charges. */
export const PAID_ERRORS: readonly number[] = [400, 402, 403, 404, 408, 409, 413, 415, 422, 429, 500, 502, 503, 504];

/** What a status means. */
export const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: "A field, a parameter or a header is missing, malformed or out of range.",
  401: "The key is missing or not valid, or a vendor refused the gateway's credential.",
  402: "The balance or a budget does not cover the request.",
  403: "The key may not do this.",
  404: "There is no such resource, model or path.",
  405: "The path has other methods.",
  408: "The body stalled.",
  409: "The present state does not allow it.",
  413: "The body is too large.",
  415: "The type or the coding of the body is not supported.",
  416: "The range is outside the file.",
  422: "The `Idempotency-Key` was used with another body.",
  426: "WebSockets are not supported.",
  429: "A limit of the key, the account or a vendor is reached.",
  500: "A fault of the gateway.",
  502: "A vendor failed.",
  503: "The gateway has no capacity, or takes no writes.",
  504: "A vendor did not respond in time.",
};
