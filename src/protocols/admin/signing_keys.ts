import type { Handler, Route } from "../../http/inbound.ts";
import type { SigningKeyRing } from "../../videos/results/signing_keys.ts";
import { answerJson } from "./answer.ts";
import { guardedRoute } from "./guarded_route.ts";

/** What the administration of signing keys works with. */
export interface AdminSigningKeyOptions {
  /** The operator's key; empty: there is no administration. */
  readonly adminKey: string;
  readonly signingKeys: Pick<SigningKeyRing, "rotate">;
}

/** The addresses of the administration of signing keys: none without an admin key. */
export function adminSigningKeyRoutes({ adminKey, signingKeys }: AdminSigningKeyOptions): Route[] {
  if (adminKey === "") return [];
  return [guardedRoute(adminKey, "/admin/v1/signing-keys")("POST", "/rotate", rotateHandler(signingKeys))];
}

/**
 * `POST /admin/v1/signing-keys/rotate`: `{signs, verifies, dropped}`, ids of keys. Addresses of results that the key
 * before signed stay good; those of a `dropped` one, from two rotations ago, open nothing from now on.
 */
function rotateHandler(signingKeys: Pick<SigningKeyRing, "rotate">): Handler {
  return async ({ request }) => {
    await request.body?.cancel();
    return answerJson(await signingKeys.rotate());
  };
}
