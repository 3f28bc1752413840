import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { writeMoney } from "../lib/money.ts";
import { loggedModelOf, loggedPathOf } from "./logged_texts.ts";
import type { RequestObserver } from "./request_record.ts";

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
      protocol: protocolOf(arrival.path),
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

/** The protocols by the first segment of the path. */
const PROTOCOLS: ReadonlyMap<string, string> = new Map([
  ["v1", "default"],
  ["msgcompat", "message"],
  ["gencompat", "content"],
  ["admin", "admin"],
]);

/** The names of the protocols. */
export const PROTOCOL_NAMES: readonly string[] = [...PROTOCOLS.values()];

/** What the paths of a protocol begin with, such as `/v1/`. */
export function pathsOf(protocol: string): string[] {
  return [...PROTOCOLS].flatMap(([segment, name]) => name === protocol ? [`/${segment}/`] : []);
}

/** The protocol of a path; undefined for paths outside all protocols, such as `/healthz`. */
export function protocolOf(path: string): string | undefined {
  const end = path.indexOf("/", 1);
  return PROTOCOLS.get(path.slice(1, end < 0 ? undefined : end));
}
