import { protocolAt } from "../../platform/endpoints/protocols.ts";
import { BodyCapture, CaptureMemory } from "../../platform/http/request/body_capture.ts";
import { readCredential } from "../../platform/http/request/credentials.ts";
import type { Inbound } from "../../platform/http/request/inbound.ts";
import type { WrongKeys } from "../../platform/http/wrong_keys.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import { isPending, type MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import type { EffectiveLimits } from "../limits/access_limits.ts";
import type { RatesLeft } from "../limits/limits_left.ts";
import { addDefaultRateFields, addMessageRateFields } from "../limits/rate_fields.ts";
import { checkAccess } from "../limits/permission.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Credential, KeyRing } from "./keys/key_ring.ts";
import type { LedgerMeter } from "./meter/meter.ts";

/**
 * Authenticates a request by its key. From then on the request's memory counts for the account, so the body must be
 * read afterwards.
 *
 * @throws {GatewayError} `unauthorized` without a key, `invalid_api_key` with an invalid one; `permission_denied` if
 * the key or the account may not be used from the caller's address or at this endpoint.
 */
export type Authenticate = (inbound: Inbound) => MaybePromise<Credential>;

/** The dependencies of authentication. */
export interface AuthenticateParts {
  readonly ring: Pick<KeyRing, "resolve">;
  /** Delays the errors of invalid keys. It is not used for valid ones. */
  readonly wrongKeys: Pick<WrongKeys, "refuse">;
  /** What the limits of a key have left, for the header fields of responses. Default: no fields. */
  readonly meter?: Pick<LedgerMeter, "ratesLeft">;
  readonly clock: Pick<Clock, "now">;
  /** The most bytes of each captured body; null if none are kept. Default: none. */
  readonly captureBytes?: number | null;
}

/** Of this thread, whatever the configuration: open requests may have begun with an earlier one. */
const captured = new CaptureMemory();

/** Authenticates by a key ring. Responses to a key with a limit of rate then show what it has left. */
export function createAuthenticate(
  { ring, wrongKeys, meter, clock, captureBytes = null }: AuthenticateParts,
): Authenticate {
  function ownedBy(credential: Credential, inbound: Inbound): Credential {
    const { memory, record } = inbound;
    memory.assignTo(credential.accountId);
    record.accountId = credential.accountId;
    record.keyId = credential.keyId;
    if (credential.capture !== null && captureBytes !== null) {
      record.capture = new BodyCapture(credential.capture, captureBytes, captured);
    }
    if (credential.limits !== null) applyLimits(credential, credential.limits, inbound);
    return credential;
  }

  /** The fields come first, so that a refusal has them too. */
  function applyLimits(credential: Credential, limits: EffectiveLimits, inbound: Inbound): void {
    if (meter !== undefined) {
      inbound.callerFields = (fields) => addRateFields(fields, meter.ratesLeft(credential), inbound.path);
    }
    checkAccess(limits, inbound.endpoint, inbound.remote);
  }

  function addRateFields(fields: Record<string, string>, left: RatesLeft | null, path: string): void {
    const style = protocolAt(path)?.rateFields ?? null;
    if (left === null || style === null) return;
    if (style === "message") addMessageRateFields(fields, left, clock.now());
    else addDefaultRateFields(fields, left);
  }

  return (inbound) => {
    const { request, headers = request.headers, query, path } = inbound;
    let found: MaybePromise<Credential>;
    try {
      found = ring.resolve(readCredential(headers, query, protocolAt(path)?.keyLocations));
    } catch (failure) {
      return refuse(failure, inbound, wrongKeys);
    }
    if (!isPending(found)) return ownedBy(found, inbound);
    return found.then(
      (credential) => ownedBy(credential, inbound),
      (failure) => refuse(failure, inbound, wrongKeys),
    );
  };
}

function refuse(failure: unknown, { remote }: Inbound, wrongKeys: Pick<WrongKeys, "refuse">): Promise<never> {
  if (!(failure instanceof GatewayError) || failure.code !== "invalid_api_key") throw failure;
  return wrongKeys.refuse(remote, failure);
}
