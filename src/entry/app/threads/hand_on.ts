import type { Inbound } from "../../../platform/http/request/inbound.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { ThreadRelay } from "../../../threads/serving/relay.ts";
import { mainThreadUnreachable } from "./isolate_handler.ts";

/** Hands a request on whose body was read. */
export type HandOn = (inbound: Inbound, body: Uint8Array) => Promise<Response>;

/**
 * Hands requests on to the main thread, which gives them to a thread for large requests, and records them. Until the
 * response begins, this thread holds the bytes and no more.
 */
export function handOn(relay: Pick<ThreadRelay, "sendRead">): HandOn {
  return async (inbound, body) => {
    const { record, memory } = inbound;
    memory.releaseTo(body.length);
    record.isHandedOn = true;
    try {
      const response = await relay.sendRead(inbound, body);
      inbound.responseFields?.(); // the response has those of the main thread
      return response;
    } catch (error) {
      record.isHandedOn = false;
      throw error instanceof GatewayError ? error : mainThreadUnreachable();
    } finally {
      memory.release(body.length);
    }
  };
}
