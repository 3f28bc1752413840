import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from "../../support/loopback_certificate.ts";
import type { VideoFacts } from "./video_facts.ts";

/** Receives the events of videos. */
export interface EventReceiver {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts a receiver that first rejects every fifth event, so that kills also occur between retries. It responds late to
 * every third.
 */
export function startEventReceiver(facts: VideoFacts, onEvent: () => void): EventReceiver {
  let count = 0;
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    cert: LOOPBACK_CERTIFICATE,
    key: LOOPBACK_KEY,
    onListen() {},
  }, async (request) => {
    const key = request.headers.get("x-service-idempotency-key") ?? "";
    const body = await request.text();
    const isTaken = ++count % 5 !== 0 || facts.events.has(key);
    if (count % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 100));
    facts.recordEvent(key, body, isTaken);
    onEvent();
    return new Response(null, { status: isTaken ? 204 : 503 });
  });
  return { url: `https://127.0.0.1:${server.addr.port}/events`, stop: () => server.shutdown() };
}
