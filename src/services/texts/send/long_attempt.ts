import type { OutboundResponse } from "../../../vendors/upstreams/call/outbound_call.ts";
import type { TextAttempt } from "../plan/attempt.ts";
import type { Hops } from "./hops.ts";

/** Sends the request of an attempt once more, with the token of its last reply. */
export type SendHop = (token: string) => Promise<OutboundResponse>;

/** An attempt whose reply may go on in further requests. */
export type LongAttempt = TextAttempt & { readonly hops: Hops };
