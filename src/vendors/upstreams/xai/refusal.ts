import { chat } from "../../../conversation/codecs/chat/mod.ts";
import { ERROR_TEXTS } from "../call/error_texts.ts";
import type { VendorRefusal } from "../call/outbound_call.ts";
import { readCostUsd } from "./cost.ts";

/** Whether the error text means that xAI's content rules forbid the request or its result. */
export function isXaiRefusal(message: string): boolean {
  return ERROR_TEXTS.xaiContentRefusal.test(message);
}

/** Reads an error body, which has one of three formats. Refusals are billed and report their cost. */
export function readXaiError(body: unknown): VendorRefusal {
  const error = chat.upstream.readError(body);
  const refusal = isXaiRefusal(error.message) ? { kind: "invalid", isContentRefusal: true } as const : {};
  return { ...error, ...refusal, costUsd: readCostUsd(body) ?? undefined };
}
