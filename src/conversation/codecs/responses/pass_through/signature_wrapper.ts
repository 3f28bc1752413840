import { Buffer } from "node:buffer";
import { isWrapped } from "../../../parts/request/body_edits.ts";
import type { ReplyRestorer, StreamRestorer } from "../../../contract/pass_through.ts";
import { writeSignature } from "../../../neutral/reasoning_signature.ts";
import { objectOf, parsedOrNull, textOf } from "../../../neutral/wire_value.ts";

/** Encrypted content. Quotes within JSON strings are escaped, so only members match. */
const ENCRYPTED = /("encrypted_content"\s*:\s*)("(?:[^"\\]|\\.)+")/g;

/** What every text with encrypted content has. */
const MEMBER = '"encrypted_content"';

/**
 * Writes the name of the provider into the encrypted content of replies that pass through, so that it comes back to the
 * provider that can read it. Only the organization that made it can: others answer 400 `invalid_encrypted_content`.
 */
export function signatureWrapper(issuer: string): ReplyRestorer {
  const wrapped = (text: string) => text.replaceAll(ENCRYPTED, (_, name: string, json: string) => name + own(json));

  /** The value as JSON, with its issuer. */
  function own(json: string): string {
    const value = parsedOrNull(json);
    if (typeof value !== "string" || isWrapped(value)) return json;
    return JSON.stringify(writeSignature({ format: "responses", issuer, value }, "responses"));
  }

  return {
    names: new Map(),
    issuer,
    whole(bytes) {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
      return text.includes(MEMBER) ? Buffer.from(wrapped(text)) as Uint8Array<ArrayBuffer> : bytes;
    },
    stream: (): StreamRestorer => ({
      isRelevant: (text) => text.includes(MEMBER),
      restore(data) {
        const changed = wrapped(data);
        if (changed === data) return null;
        return [{ event: textOf(objectOf(parsedOrNull(data))?.type) || null, data: changed }];
      },
    }),
  };
}
