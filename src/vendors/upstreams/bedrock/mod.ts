import type { UpstreamKind } from "../contract/upstream.ts";
import { converseEndpoint } from "./converse_endpoint.ts";
import { adoptsClock, byKeyOrSignature } from "./credentials.ts";
import { messagesEndpoint } from "./messages_endpoint.ts";
import { probe } from "./probe.ts";
import { Late } from "../../../platform/lib/process/late.ts";

/**
 * Amazon Bedrock: Anthropic's models in their own format, and all others in that of Converse. Source: Amazon Bedrock
 * API reference, "Amazon Bedrock Runtime".
 */
export const bedrock = {
  authorize: byKeyOrSignature,
  retriesRejected: adoptsClock,
  text: () => [messagesEndpoint, converseEndpoint],
  capabilities: ({ outbound }) => ({
    embeddings: new Late(async () => (await import("./embeddings.ts")).bedrockEmbeddings(outbound)),
  }),
  probe,
} satisfies UpstreamKind;
