import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import type { Handler } from "../../platform/http/request/inbound.ts";
import type { SigningKeyRing } from "../../services/videos/results/signing_keys.ts";
import { answerJson } from "./shared/answer.ts";
import { type AdminRoute, adminRoute } from "./shared/admin_route.ts";

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
