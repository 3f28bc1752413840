import type { ChatSettings, Message, ProtocolName, WrittenRequest } from "../conversation.ts";
import type { ReplyReader } from "../reply.ts";
import type { Snippets } from "../snippets/snippet.ts";

/** A protocol of texts: writes requests, and reads streamed answers. */
export interface Protocol {
  readonly name: ProtocolName;
  readonly write: (settings: ChatSettings, messages: readonly Message[]) => WrittenRequest;
  readonly reader: () => ReplyReader;
  /** Writes a request as a program. */
  readonly snippets: Snippets;
}
