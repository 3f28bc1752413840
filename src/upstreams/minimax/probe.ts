import * as z from "zod";
import { probeByGet } from "../probe.ts";
import type { CredentialProbe } from "../upstream.ts";
import { codeNumber, verdictOn } from "./refusal.ts";

const Answer = z.object({ base_resp: z.object({ status_code: codeNumber }) });

/**
 * Asks for a task that cannot exist. The key is checked first, by a number in an answer of status 200; that the task is
 * refused as invalid then means that the key is good. Source: MiniMax API reference, "Query video generation task".
 */
export const probeMinimax: CredentialProbe = probeByGet("/v1/query/video_generation?task_id=0", (answer, outbound) => {
  const code = Answer.parse(answer).base_resp.status_code;
  if (code === null || code === "0") return;
  const { kind } = verdictOn(code);
  if (kind !== "invalid") throw outbound.failure(kind, "");
});
