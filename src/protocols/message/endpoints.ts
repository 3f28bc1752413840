import type { Endpoint } from "../../http/lazy_routes.ts";

/** The text endpoints of the message protocol. */
export const MESSAGE_ENDPOINTS: readonly Endpoint[] = [
  { method: "POST", path: "/msgcompat/v1/messages" },
  { method: "POST", path: "/msgcompat/v1/messages/count_tokens" },
];
