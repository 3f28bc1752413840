import * as z from "zod";
import { probeByGet } from "../shared/probe.ts";
import type { CredentialProbe } from "../contract/upstream.ts";
import { errorCode, meaningOf } from "./refusal.ts";

const ResponseBody = z.object({ base_resp: z.object({ status_code: errorCode }) });

/**
 * Queries a task that cannot exist. The vendor checks the key first and reports the outcome as a code with status 200.
 * If it rejects the task as invalid, the key is valid. Source: MiniMax API reference, "Query video generation task".
 */
export const probeMinimax: CredentialProbe = probeByGet(
  "/v1/query/video_generation?task_id=0",
  (response, outbound) => {
    const code = ResponseBody.parse(response).base_resp.status_code;
    if (code === null || code === "0") return;
    const { kind } = meaningOf(code);
    if (kind !== "invalid") throw outbound.failure(kind, "");
  },
);
