import { anthropicMessages } from "./anthropic_messages.ts";
import type { Client } from "./client.ts";
import { googleContent } from "./google_content.ts";
import { openaiChat } from "./openai_chat.ts";
import { openaiResponses } from "./openai_responses.ts";
import { toolkitChat, toolkitContent, toolkitMessages, toolkitResponses } from "./toolkit.ts";

/** Every official client, in the order of the table. */
export const CLIENTS: readonly Client[] = [
  openaiChat,
  openaiResponses,
  anthropicMessages,
  googleContent,
  toolkitChat,
  toolkitResponses,
  toolkitMessages,
  toolkitContent,
];
