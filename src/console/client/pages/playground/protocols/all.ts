import type { ProtocolName } from "../conversation.ts";
import { chat } from "./chat.ts";
import { content } from "./content.ts";
import { messages } from "./messages.ts";
import type { Protocol } from "./protocol.ts";
import { responses } from "./responses.ts";

/** The protocols of texts by their names. */
export const PROTOCOLS: Readonly<Record<ProtocolName, Protocol>> = { chat, responses, messages, content };

/** The names, in the order in which they are shown. */
export const PROTOCOL_NAMES: readonly ProtocolName[] = ["chat", "responses", "messages", "content"];
