import { createAuthenticate } from "../../../money/billing/authenticate.ts";
import type { Credential } from "../../../money/billing/keys/key_ring.ts";
import { capturedBodyBytes } from "../../../config/sections/captured_bodies.ts";
import type { CatalogFor } from "../../../vendors/catalog/listing.ts";
import { permittedCatalog } from "../../../vendors/catalog/permitted_catalog.ts";
import type { WrongKeys } from "../../../platform/http/wrong_keys.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { chain } from "../../../platform/lib/basics/maybe_promise.ts";
import type { Services } from "./services.ts";

/** What {@linkcode callerCatalog} needs. */
export interface CallerCatalogParts extends Pick<Services, "catalog" | "keys" | "meter" | "clock" | "config"> {
  /** Counts the wrong keys of requests for catalogs alone. */
  readonly publicWrongKeys: Pick<WrongKeys, "note" | "isSlowed">;
}

/**
 * Returns the catalog for the caller of a request. The catalogs are public, so a request without a valid key gets the
 * whole one, and at once. After some wrong keys of a client, its keys are not looked at for a time: the answers would
 * else show which of many guesses is a key with limits.
 */
export function callerCatalog(
  { catalog, keys, meter, clock, config, publicWrongKeys }: CallerCatalogParts,
): CatalogFor {
  const wrongKeys: Pick<WrongKeys, "refuse"> = {
    refuse(address, error) {
      publicWrongKeys.note(address);
      return Promise.reject(error);
    },
  };
  const authenticate = createAuthenticate({
    ring: keys,
    wrongKeys,
    meter,
    clock,
    captureBytes: capturedBodyBytes(config.requestLog),
  });
  return (inbound) => {
    const whole = catalog.at(inbound.receivedAt);
    const permitted = ({ limits }: Credential) => permittedCatalog(whole, limits);
    const publicOrThrow = (error: unknown) => {
      if (error instanceof GatewayError && error.status === 401) return whole;
      throw error;
    };
    if (publicWrongKeys.isSlowed(inbound.remote)) return whole;
    try {
      return chain(authenticate(inbound), permitted, publicOrThrow);
    } catch (error) {
      return publicOrThrow(error);
    }
  };
}
