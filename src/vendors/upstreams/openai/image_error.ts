import { chat } from "../../../conversation/codecs/chat/mod.ts";
import type { VendorRefusal } from "../call/outbound_call.ts";

/** Error codes of content rules: of OpenAI, of its models on Azure, and of compatible vendors. */
const CONTENT_RULES = /^(?:moderation_blocked|content_policy_violation|content_?filter)/i;

/** Reads an error body, `{error: {message, type, param, code}}`. Source: OpenAI API reference, "Images", errors. */
export function readImageError(body: unknown): VendorRefusal {
  const error = chat.upstream.readError(body);
  return CONTENT_RULES.test(error.code ?? "") ? { ...error, kind: "invalid", isContentRefusal: true } : error;
}
