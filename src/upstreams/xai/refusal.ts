import { chat } from "../../conversation/codecs/chat/mod.ts";
import type { VendorRefusal } from "../outbound_call.ts";
import { readCostUsd } from "./cost.ts";

/** Whether xAI's content rules forbid a request or its result: it has no code for that, only these words. */
export function isXaiRefusal(said: string): boolean {
  return /content moderation|usage guidelines|SAFETY_CHECK/i.test(said);
}

/** Reads an error body, which has one of three forms; refusals are billed all the same, and say for how much. */
export function readXaiError(body: unknown): VendorRefusal {
  const said = chat.upstream.readError(body);
  const refusal = isXaiRefusal(said.message) ? { kind: "invalid", isContentRefusal: true } as const : {};
  return { ...said, ...refusal, costUsd: readCostUsd(body) ?? undefined };
}
