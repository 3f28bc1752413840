import { isObject, textOrNull } from "../../conversation/neutral/wire_value.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { GrowingBytes } from "../../platform/lib/bytes/growing_bytes.ts";
import { hasMoreValuesThan } from "../../platform/lib/json/json_values.ts";
import { createRedactor } from "../../platform/lib/text/redact.ts";
import { EgressError } from "../../platform/net/egress_error.ts";
import { guardedFetch } from "../../platform/net/guarded_fetch.ts";
import type { EgressPolicy } from "../../platform/net/target.ts";
import type { ReportAccess } from "../upstreams/settings/report_access.ts";
import type { ReadReport } from "./vendor_report.ts";

/** The largest answer. A week of sixty line items has 0.2 MB. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
/** The most values of an answer. Parsing these takes some ten milliseconds, while all others wait. */
const MAX_ANSWER_VALUES = 100_000;
/** The time limit of one answer, body included. */
const ANSWER_MS = 30_000;
const MAX_VENDOR_CHARACTERS = 200;
const ANTHROPIC_VERSION = "2023-06-01";

/** Where a vendor's reports are read. */
export interface ReportSource extends ReportAccess {
  /** The provider's name, for messages. */
  readonly provider: string;
  /** Without a final slash. */
  readonly baseUrl: string;
  /** Gives the egress rules. The address of a provider is one that an operator chose, and is checked all the same. */
  readonly egress: EgressPolicy;
}

/** Creates a function that reads a vendor's reports with the admin key, under the egress rules. */
export function reportReader({ provider, baseUrl, format, key, egress }: ReportSource): ReadReport {
  const redact = createRedactor([key]);
  const headers: Readonly<Record<string, string>> = format === "anthropic"
    ? { "x-api-key": key, "anthropic-version": ANTHROPIC_VERSION }
    : { authorization: `Bearer ${key}` };
  return async (path, query) => {
    const address = `${baseUrl}${path}`;
    try {
      const response = await guardedFetch(`${address}?${query}`, {
        method: "GET",
        headers: { accept: "application/json", "user-agent": "switchyard", ...headers },
        schemes: address.startsWith("https:") ? ["https:"] : ["http:", "https:"],
        maxBytes: MAX_ANSWER_BYTES,
        timeoutMs: ANSWER_MS,
      }, egress);
      const bytes = new GrowingBytes({ expectedBytes: null });
      for await (const chunk of response.body) bytes.add(chunk);
      const answer = await parsed(bytes.finish(), path);
      if (response.status === 200 && answer !== undefined) return answer;
      if (response.status === 200) throw new GatewayError("upstream_error", `${START} ${path} is not JSON`);
      throw statusError({ provider, path, status: response.status, message: redact(messageIn(answer)) });
    } catch (error) {
      if (error instanceof EgressError) throw egressError(error, provider, path);
      throw error;
    }
  };
}

const START = "Cannot read the vendor's report:";

/**
 * The value of an answer; undefined for no JSON.
 *
 * @throws {GatewayError} `upstream_error` for an answer with too many values.
 */
async function parsed(bytes: Uint8Array, path: string): Promise<unknown> {
  if (await hasMoreValuesThan(bytes, MAX_ANSWER_VALUES)) {
    throw tooLarge(`an answer of ${path} has more than ${MAX_ANSWER_VALUES} JSON values`);
  }
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** The vendor's message: `{error: {message}}`, or `{message}`. */
function messageIn(answer: unknown): string {
  const error = isObject(answer) && isObject(answer.error) ? answer.error : answer;
  const message = isObject(error) ? textOrNull(error.message) : null;
  return message === null ? "" : `: ${message.slice(0, MAX_VENDOR_CHARACTERS)}`;
}

interface Refusal {
  readonly provider: string;
  readonly path: string;
  readonly status: number;
  readonly message: string;
}

function statusError({ provider, path, status, message }: Refusal): GatewayError {
  const said = `(status ${status}${message})`;
  const setting = `providers.${provider}.report_key`;
  switch (status) {
    case 401:
      return new GatewayError("upstream_error", `${START} it rejects the admin key ${said}; check ${setting}`);
    case 403: {
      const what = "the admin key may not read it, or it is the key of a project";
      return new GatewayError("upstream_error", `${START} ${what} ${said}; check ${setting}`);
    }
    case 404: {
      const what = `${path} does not exist at the provider's address`;
      return new GatewayError("upstream_error", `${START} ${what} ${said}; check providers.${provider}.base_url`);
    }
    case 400:
      return new GatewayError("upstream_error", `${START} it refuses the range of days ${said}`);
    case 429:
      return new GatewayError("upstream_error", `${START} its rate limit is exceeded ${said}; try again later`);
    default:
      return new GatewayError("upstream_error", `${START} it failed ${said}; try again later`);
  }
}

function egressError({ kind, message }: EgressError, provider: string, path: string): GatewayError {
  if (kind === "timeout" || kind === "connect") {
    return new GatewayError("upstream_timeout", `${START} ${path} did not answer in ${ANSWER_MS / 1_000} seconds`);
  }
  if (kind === "too_large") return tooLarge(`an answer of ${path} has more than ${MAX_ANSWER_BYTES} bytes`);
  const hint = kind === "refused" ? `; add the address of providers.${provider}.base_url to egress.allow` : "";
  return new GatewayError("upstream_error", `${START} ${message}${hint}`);
}

function tooLarge(what: string): GatewayError {
  return new GatewayError("upstream_error", `${START} ${what}; shorten the range of days`);
}
