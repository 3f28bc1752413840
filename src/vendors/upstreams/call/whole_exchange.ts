import type { OutboundResponse } from "./outbound_call.ts";

/** The request that a vendor call is made for. */
export interface WholeExchange {
  /** Reserves memory for the bytes of a reply. An error that it throws ends the call and is rethrown. */
  readonly reserve: (bytes: number) => void;
  /** Called with the head of a 2xx response, before its body is read. */
  readonly onResponse: (response: Pick<OutboundResponse, "status" | "header">) => void;
}
