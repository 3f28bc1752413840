import { protocolAt } from "../endpoints/protocols.ts";
import type { Clock } from "../lib/basics/clock.ts";
import type { Log } from "../lib/basics/log.ts";
import { writeMoney } from "../lib/basics/money.ts";
import { loggedModelOf, loggedPathOf } from "./logged_texts.ts";
import type { RequestObserver } from "./request/request_record.ts";

/** Writes one log line for each request at its end: `request`. Requests of monitoring have none. */
export function accessLog(log: Log, clock: Clock): RequestObserver {
  return (record) => {
    if (record.isProbe) return;
    const { arrival, tokens, cost } = record;
    log.info("request", {
      requestId: arrival.requestId,
      traceId: record.trace?.traceId,
      accountId: record.accountId ?? undefined,
      keyId: record.keyId ?? undefined,
      protocol: protocolAt(arrival.path)?.name,
      method: arrival.method,
      path: loggedPathOf(arrival).slice(0, MAX_PATH_CHARACTERS),
      kind: record.kind ?? undefined,
      model: record.servedModel ?? loggedModelOf(record) ?? undefined,
      provider: record.provider ?? undefined,
      status: record.status,
      code: record.code ?? undefined,
      state: record.end === null ? undefined : tokens?.isEstimated ? `${record.end}, estimated` : record.end,
      inputTokens: tokens?.input,
      outputTokens: tokens?.output,
      count: record.images === 0 ? undefined : record.images,
      cost: cost === null ? undefined : writeMoney(cost),
      firstByteMs: record.firstByteMs ?? undefined,
      durationMs: clock.now() - arrival.receivedAt,
    });
  };
}

const MAX_PATH_CHARACTERS = 200;
