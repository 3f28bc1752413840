import * as z from "zod";
import type { AccessToken } from "./access_tokens.ts";
import { CAUSE_TEXTS } from "./connection_cause.ts";
import { type FailureKind, UpstreamFailure } from "./failure.ts";
import type { OutboundBody } from "./outbound_body.ts";
import type { Outbound } from "./outbound_call.ts";

const MAX_TOKEN_SECONDS = 86_400;
const MAX_RESPONSE_BYTES = 65_536;
const TIMEOUT_MS = 10_000;

/** The response of a token address (RFC 6749, 5.1). Some servers write the lifetime as text. */
const TokenResponse = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]{1,16384}$/),
  expires_in: z.coerce.number().positive(),
});

/** The error code of a refusal (RFC 6749, 5.2). Its description may name accounts, and is not read. */
const RefusalBody = z.object({ error: z.string().regex(/^[a-z_]{1,64}$/) });

/**
 * Requests an access token by a form (RFC 6749, 3.2).
 *
 * @param outbound The client of the token address.
 * @param path Of the token address.
 * @param provider The provider that the token is for, which failures name.
 * @param late Ends the request.
 * @throws {UpstreamFailure} `auth` if the credentials are refused. Nothing has reached the vendor.
 */
export async function fetchTokenByForm(
  outbound: Outbound,
  path: string,
  form: Readonly<Record<string, string>>,
  provider: string,
  late: AbortSignal,
): Promise<AccessToken> {
  try {
    return await outbound.json("POST", path, formBody(form), readToken, {
      callerSignal: () => late,
      capBytes: MAX_RESPONSE_BYTES,
      firstByteMs: TIMEOUT_MS,
      readError: (body) => ({
        message: "",
        code: RefusalBody.safeParse(body).data?.error ?? null,
        field: null,
        retryAfterSeconds: null,
      }),
    });
  } catch (error) {
    throw error instanceof UpstreamFailure ? tokenFailure(error, provider) : error;
  }
}

function readToken(response: unknown): AccessToken {
  const { access_token: value, expires_in: seconds } = TokenResponse.parse(response);
  return { value, lifetimeMs: Math.min(seconds, MAX_TOKEN_SECONDS) * 1_000 };
}

function formBody(form: Readonly<Record<string, string>>): OutboundBody {
  const bytes = new TextEncoder().encode(new URLSearchParams(form).toString());
  return {
    contentType: "application/x-www-form-urlencoded",
    lengthBytes: bytes.length,
    async *open() {
      yield await Promise.resolve(bytes);
    },
  };
}

/** The kind for the request that needs the token, and what happened at the token address. */
const OUTCOMES: Readonly<Record<FailureKind, readonly [kind: FailureKind, what: string]>> = {
  auth: ["auth", "refused the credentials"],
  forbidden: ["auth", "refused the credentials"],
  invalid: ["auth", "refused the credentials"],
  rate_limited: ["unavailable", "limits the rate of requests"],
  unreachable: ["unreachable", "could not be reached"],
  timeout: ["timeout", "did not respond in time"],
  broken: ["unavailable", "returned an invalid response"],
  unavailable: ["unavailable", "failed"],
  cancelled: ["timeout", "did not respond in time"],
};

function tokenFailure({ kind: reported, facts }: UpstreamFailure, provider: string): UpstreamFailure {
  const [kind, what] = OUTCOMES[reported];
  const code = facts.vendorCode === undefined ? "" : ` (${facts.vendorCode})`;
  const why = facts.connectionCause === undefined ? "" : `: ${CAUSE_TEXTS[facts.connectionCause]}`;
  const message = `Provider "${provider}" has no access token: the token address ${what}${why}${code}`;
  // The cause is only that of the connection: the failure itself is about another address.
  return new UpstreamFailure(provider, kind, message, {
    status: kind === "auth" ? facts.status : null,
    accepted: "no",
    retryAfterSeconds: facts.retryAfterSeconds,
    vendorCode: facts.vendorCode,
    connectionCause: facts.connectionCause,
    cause: reported === "unreachable" || reported === "timeout" ? facts.cause : undefined,
  });
}
