import type { ChatSettings, Message, ProtocolName, WrittenRequest } from "../conversation.ts";
import type { JsonObject } from "../../../json.ts";
import type { OpenedChat } from "../opened_chat.ts";
import type { ReplyReader } from "../reply.ts";
import type { Snippets } from "../snippets/snippet.ts";

/** A protocol of texts: writes requests, and reads streamed answers. */
export interface Protocol {
  readonly name: ProtocolName;
  /** What the paths of its endpoints in the log of requests begin with. */
  readonly endpoint: string;
  readonly write: (settings: ChatSettings, messages: readonly Message[]) => WrittenRequest;
  readonly reader: () => ReplyReader;
  /** Reads a request of a program. */
  readonly read: (body: JsonObject) => OpenedChat;
  /** Writes a request as a program. */
  readonly snippets: Snippets;
}
