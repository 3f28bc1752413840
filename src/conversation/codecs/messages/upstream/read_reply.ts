import type { Reply } from "../../../neutral/reply.ts";
import { isObject, textOrNull } from "../../../neutral/wire_value.ts";
import { FailedReply, unlisted } from "../../../parts/reply/failed_reply.ts";
import { readError, statusOf } from "./error.ts";
import { isSkipped, readAssistantBlock } from "../shared/parts.ts";
import { searchResultsIn } from "../shared/search_blocks.ts";
import { readVendorSignature } from "../shared/signatures.ts";
import { readStop } from "../shared/stop.ts";
import { readUsage } from "../shared/usage.ts";

/**
 * Reads a whole reply. Blocks of other tools run by the vendor are left out and listed in `unsupportedFields`.
 *
 * @throws {TypeError} If it is not a reply of this format, or an error in place of one.
 */
export function readReply(value: unknown): Reply {
  const body = unlisted(value);
  if (isObject(body) && body.content === undefined && isObject(body.error)) {
    const { message, code } = readError(body);
    throw new FailedReply({ type: "error", message, vendorCode: code, status: statusOf(code) });
  }
  if (!isObject(body) || !Array.isArray(body.content) || (body.type !== undefined && body.type !== "message")) {
    throw new TypeError('Cannot read the reply: expected an object of type "message" with "content"');
  }
  const blocks = body.content.filter(isObject);
  const found = searchResultsIn(blocks);
  return {
    id: textOrNull(body.id) ?? "",
    model: textOrNull(body.model) ?? "",
    createdAt: null,
    parts: blocks.map((block) => readAssistantBlock(block, readVendorSignature, found)).filter((part) => part !== null),
    stop: readStop(body),
    usage: readUsage(body),
    unsupportedFields: [...new Set(blocks.filter(isSkipped).map((block) => `content.${block.type}`))],
  };
}
