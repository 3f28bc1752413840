import type { JsonRequestOptions } from "../call/outbound_call.ts";
import type { WholeExchange } from "../call/whole_exchange.ts";

const MAX_REPLY_BYTES = 20_000_000;

/** Returns the options of an exchange whose work is paid whether or not the caller waits for it. */
export function wholeRequestOptions({ reserve, onResponse }: WholeExchange): JsonRequestOptions {
  return { capBytes: MAX_REPLY_BYTES, reserve, onResponse };
}
