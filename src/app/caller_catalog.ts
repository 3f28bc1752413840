import type { Credential } from "../billing/key_ring.ts";
import type { CatalogFor } from "../catalog/listing.ts";
import { permittedCatalog } from "../catalog/permitted_catalog.ts";
import type { KeyLocation } from "../http/credentials.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import type { Services } from "./services.ts";

/**
 * Returns the catalog for the caller of a request. The catalogs are public, so a request without a valid key gets the
 * whole one.
 *
 * @param carriers Where the key may be. Default: the header fields that every protocol accepts.
 */
export function callerCatalog(
  { catalog, authenticate }: Pick<Services, "catalog" | "authenticate">,
  carriers?: readonly KeyLocation[],
): CatalogFor {
  const permitted = ({ limits }: Credential) => permittedCatalog(catalog, limits);
  const publicOrThrow = (error: unknown) => {
    if (error instanceof GatewayError && error.status === 401) return catalog;
    throw error;
  };
  return (inbound) => {
    try {
      const credential = authenticate(inbound, carriers);
      return credential instanceof Promise ? credential.then(permitted, publicOrThrow) : permitted(credential);
    } catch (error) {
      return publicOrThrow(error);
    }
  };
}
