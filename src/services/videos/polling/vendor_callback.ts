import { createHmac } from "node:crypto";
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import { CALLER_ENDPOINTS } from "../../../platform/endpoints/callers.ts";
import { addressOf } from "../../../platform/endpoints/endpoint.ts";
import type { SigningKey, SigningKeys } from "../../../platform/files/signed_url.ts";
import { elementAt } from "../../../platform/lib/collections/element_at.ts";
import { isPublicBase } from "../request/media_publishing.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/**
 * Returns the gateway's callback address for one task: `{base}/v1/video-callbacks/<task>?token=…`. The token is in the
 * query, which is never logged. Null if the operator disabled callbacks or no vendor could reach the address.
 */
export function vendorCallbackUrl(
  { baseUrl, egress, settings, signingKeys }: Pick<VideoParts, "baseUrl" | "egress" | "settings" | "signingKeys">,
  taskId: string,
): string | null {
  if (settings.vendorCallbacks === false || !isPublicBase({ baseUrl, egress })) return null;
  const path = addressOf(CALLER_ENDPOINTS.acceptVendorCallback, { id: taskId });
  return `${baseUrl()}${path}?token=${tokenOf(taskId, elementAt(signingKeys, 0))}`;
}

/**
 * Whether a token is the task's, with any valid key, compared in constant time. No task is read, so an unknown task and
 * a wrong token take the same time.
 */
export function isCallbackToken(taskId: string, token: string, keys: SigningKeys): boolean {
  const given = new TextEncoder().encode(token);
  if (given.length !== TOKEN_BYTES) return false;
  return keys.map((key) => timingSafeEqual(given, new TextEncoder().encode(tokenOf(taskId, key)))).includes(true);
}

/** 32 bytes in base64. */
const TOKEN_BYTES = 43;

/** Uses the key of signed file addresses, over a text that no such address has. */
function tokenOf(taskId: string, key: SigningKey): string {
  const parts = ["1", "VIDEO_CALLBACK", taskId, key.id];
  const text = parts.map((part) => `${part.length}:${part}`).join("");
  return createHmac("sha256", key.secret).update(text).digest("base64url");
}
