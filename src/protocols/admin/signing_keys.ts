import { OPERATOR_ENDPOINTS } from "../../endpoints/operators.ts";
import type { Handler } from "../../http/inbound.ts";
import type { SigningKeyRing } from "../../videos/results/signing_keys.ts";
import { answerJson } from "./answer.ts";
import { type AdminRoute, adminRoute } from "./admin_route.ts";

/** The dependencies of the signing key endpoints. */
export interface AdminSigningKeyOptions {
  readonly signingKeys: Pick<SigningKeyRing, "rotate">;
}

/** The signing key endpoints of the admin API. */
export function adminSigningKeyRoutes({ signingKeys }: AdminSigningKeyOptions): AdminRoute[] {
  return [adminRoute(OPERATOR_ENDPOINTS.rotateSigningKeys, rotateHandler(signingKeys))];
}

/**
 * `POST /admin/v1/signing-keys/rotate`: `{signs, verifies, dropped}`, ids of keys. Result addresses signed by the
 * previous key stay valid. Those signed by a `dropped` key, from two rotations ago, become invalid.
 */
function rotateHandler(signingKeys: Pick<SigningKeyRing, "rotate">): Handler {
  return async ({ request }) => {
    await request.body?.cancel();
    return answerJson(await signingKeys.rotate());
  };
}
