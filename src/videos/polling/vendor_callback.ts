import { createHmac } from "node:crypto";
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import type { SigningKey, SigningKeys } from "../../files/signed_url.ts";
import { elementAt } from "../../lib/element_at.ts";
import { isPublicBase } from "../submit/media_publishing.ts";
import type { VideoParts } from "../video_parts.ts";

/** Where vendors post news of their jobs; the task's id follows. */
export const VENDOR_CALLBACK_PATH = "/v1/video-callbacks";

/**
 * The gateway's address for a vendor's news of one task: `{base}/v1/video-callbacks/<task>?token=…`. The token stands
 * in the query, which is never logged. Null where the operator wants no callbacks, or no vendor could reach the
 * address.
 */
export function vendorCallbackUrl(
  { baseUrl, egress, settings, signingKeys }: Pick<VideoParts, "baseUrl" | "egress" | "settings" | "signingKeys">,
  taskId: string,
): string | null {
  if (settings.vendorCallbacks === false || !isPublicBase({ baseUrl, egress })) return null;
  return `${baseUrl()}${VENDOR_CALLBACK_PATH}/${taskId}?token=${tokenOf(taskId, elementAt(signingKeys, 0))}`;
}

/**
 * Whether a token is the task's, by any key in force, compared in constant time. Nothing is looked up, so an unknown
 * task is refused as a wrong token is, and at the same price.
 */
export function isCallbackToken(taskId: string, token: string, keys: SigningKeys): boolean {
  const given = new TextEncoder().encode(token);
  if (given.length !== TOKEN_BYTES) return false;
  return keys.map((key) => timingSafeEqual(given, new TextEncoder().encode(tokenOf(taskId, key)))).includes(true);
}

/** 32 bytes in base64. */
const TOKEN_BYTES = 43;

/** Keyed by what signs addresses of files too, over a text that no such address has. */
function tokenOf(taskId: string, key: SigningKey): string {
  const parts = ["1", "VIDEO_CALLBACK", taskId, key.id];
  const text = parts.map((part) => `${part.length}:${part}`).join("");
  return createHmac("sha256", key.secret).update(text).digest("base64url");
}
