import { createParser } from "eventsource-parser";
import type {
  AssistantMessage,
  ChatSettings,
  Message,
  WrittenRequest,
} from "../../../../src/console/client/pages/playground/conversation.ts";
import type { Protocol } from "../../../../src/console/client/pages/playground/protocols/protocol.ts";
import type { Reply } from "../../../../src/console/client/pages/playground/reply.ts";

/** Settings without any choice. */
export const PLAIN: ChatSettings = {
  model: "sandbox/chat-1",
  makesImages: false,
  system: "",
  temperature: null,
  maxTokens: null,
  thinking: "default",
  tools: [],
  schema: null,
};

/** A question of a person. */
export function userText(text: string): Message {
  return { role: "user", parts: [{ kind: "text", text }] };
}

/** What a gateway answers to a request of the playground. */
export async function answerOf(
  protocol: Protocol,
  request: WrittenRequest,
  { address, key }: { readonly address: string; readonly key: string },
): Promise<{ reply: Reply; message: AssistantMessage; headers: Headers }> {
  const response = await fetch(address + request.path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "anthropic-version": "2023-06-01",
    },
    body: JSON.stringify(request.body),
  });
  if (!response.ok) throw new Error(await response.text());
  const reader = protocol.reader();
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== "[DONE]") reader.take(JSON.parse(data));
    },
  });
  parser.feed(await response.text());
  const { reply } = reader;
  const own = { protocol: protocol.name, value: reader.own() };
  return {
    reply,
    message: { role: "assistant", text: reply.text, calls: reply.calls, own },
    headers: response.headers,
  };
}
