import * as z from "zod";
import { ERROR_TEXTS } from "../call/error_texts.ts";
import type { FailureKind, UpstreamFailure } from "../call/failure.ts";
import type { Outbound, VendorRefusal } from "../call/outbound_call.ts";

/** Kling's error codes. A status 200 response can contain one, too. */

/** The meaning of a code, and whether the vendor may have started the work. */
interface CodeMeaning {
  readonly kind: FailureKind;
  readonly accepted: "no" | "unknown";
}

const refused = (kind: FailureKind): CodeMeaning => ({ kind, accepted: "no" });
const broken: CodeMeaning = { kind: "unavailable", accepted: "unknown" };

/** Source: Kling API reference, "General Information", "Error Code". */
const CODE_MEANINGS: Readonly<Record<number, CodeMeaning>> = {
  1000: refused("auth"),
  1001: refused("auth"),
  1002: refused("auth"),
  1003: refused("auth"),
  1004: refused("auth"),
  // The account is locked or its balance is used up: no caller can change that, and a retry does not help.
  1100: refused("unavailable"),
  1101: refused("unavailable"),
  1102: refused("unavailable"),
  1103: refused("forbidden"),
  1200: refused("invalid"),
  1201: refused("invalid"),
  1202: refused("invalid"),
  1203: refused("invalid"),
  1300: refused("invalid"),
  1301: refused("invalid"),
  1302: refused("rate_limited"),
  1303: refused("rate_limited"),
  1304: refused("forbidden"),
  5000: broken,
  5001: broken,
  5002: broken,
};

/** The content rules of the platform forbid the request. */
const CONTENT_CODES: ReadonlySet<number> = new Set([1300, 1301]);
/** The job does not exist. */
const MISSING_CODES: ReadonlySet<string> = new Set(["1202", "1203"]);

const Envelope = z.object({ code: z.number(), message: z.string().nullish().catch(null) });

/** Reads an error body, `{code, message}`. */
export function readKlingError(body: unknown): VendorRefusal {
  const error = Envelope.safeParse(body).data;
  const verdict = error && CODE_MEANINGS[error.code];
  return {
    message: error?.message ?? "",
    code: error ? String(error.code) : null,
    field: null,
    retryAfterSeconds: null,
    kind: verdict?.kind,
    isContentRefusal: error && CONTENT_CODES.has(error.code) ? true : undefined,
  };
}

/**
 * Throws the failure that a status 200 response reports; returns if it reports success.
 *
 * @throws {UpstreamFailure}
 */
export function throwReportedFailure(outbound: Outbound, response: unknown): void {
  const { code, message } = Envelope.parse(response);
  if (code === 0) return;
  const { kind, accepted } = CODE_MEANINGS[code] ?? broken;
  const isContentRefusal = CONTENT_CODES.has(code);
  throw outbound.failure(kind, message ?? "", { accepted, vendorCode: String(code), isContentRefusal });
}

/** Whether a failure means that the job does not exist. */
export function isMissing({ facts: { status, vendorCode } }: UpstreamFailure): boolean {
  return status === 404 || MISSING_CODES.has(vendorCode ?? "");
}

/** Whether the message of a failed job names content rules as the reason. */
export function isContentFailure(message: string): boolean {
  return ERROR_TEXTS.klingContentRefusal.test(message);
}
