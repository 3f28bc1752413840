import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { Late } from "../../platform/lib/process/late.ts";

/** What a reply, or a chunk of it, says about its end. */
export interface ReplyPause {
  /** The token with which the reply goes on; null if it has none. */
  readonly token: string | null;
  /** Whether the reply pauses here, because it is as long as the vendor makes it for one request. */
  readonly isPaused: boolean;
}

/**
 * How a format goes on with replies that end at a limit of the vendor for each request. The same request is sent again
 * with a token. Each of these hops reads the prompt and all output before it, and reports its usage. Bodies are
 * replies, or chunks of a stream, as the vendor sends them.
 */
export interface Continuation {
  /** Reads the end of a body. */
  pauseIn(body: JsonObject): ReplyPause;
  /** The part of a body that reports usage; null if it has none. */
  usageIn(body: JsonObject): JsonObject | null;
  /** A body whose usage includes that of earlier hops. */
  withUsage(body: JsonObject, earlier: JsonObject | null): JsonObject;
  /** A body without its end, for a reply that goes on. */
  resumed(body: JsonObject): JsonObject;
  /** A body that ends at the limit of output tokens. */
  limited(body: JsonObject): JsonObject;
  /** A whole reply and the next one as one reply, with the end and the usage of the next one. */
  joined(reply: JsonObject, next: JsonObject): JsonObject;
}

/** How a format goes on with long replies, which is loaded for models that make them. */
export interface LateContinuation {
  /** The member of a request that has the token. */
  readonly member: string;
  /** The rest. */
  readonly code: Late<Continuation>;
}
