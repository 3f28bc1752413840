import { ApiError } from "../../../api.ts";
import type { ProtocolName, Thinking } from "../conversation.ts";
import type { Media, Message } from "../conversation.ts";
import type { Exchange } from "../exchange.ts";
import type { Reply } from "../reply.ts";
import type { ChatState, ToolDraft } from "./chat_state.ts";
import type { Pane, ReplyTurn, Turn } from "./pane.ts";

/** Raised when the shape changes: what an earlier version has kept is left out. */
const VERSION = 1;

/** A chat as it is kept in the tab. */
export interface KeptChat {
  readonly version: number;
  readonly protocol: ProtocolName;
  readonly hasTwo: boolean;
  readonly system: string;
  readonly temperature: string;
  readonly maxTokens: string;
  readonly thinking: Thinking;
  readonly tools: readonly ToolDraft[];
  readonly hasSchema: boolean;
  readonly schemaText: string;
  readonly prompt: string;
  readonly files: readonly Media[];
  readonly panes: readonly KeptPane[];
}

interface KeptPane {
  readonly model: string;
  readonly turns: readonly (Message | KeptReply)[];
}

interface KeptReply extends Pick<ReplyTurn, "role" | "id" | "request" | "exchange" | "state"> {
  readonly reply: Reply;
  /** The answer as its protocol writes it in the next request. */
  readonly own: unknown;
  readonly error: Pick<ApiError, "message" | "status" | "code" | "requestId"> | null;
}

/**
 * Reads a chat for the tab.
 *
 * @param hasEvents Whether the raw events of the answers are kept, which are most of its size.
 */
export function keptChatOf(chat: ChatState, hasEvents: boolean): KeptChat {
  return {
    version: VERSION,
    protocol: chat.protocol.value,
    hasTwo: chat.hasTwo.value,
    system: chat.system.value,
    temperature: chat.temperature.value,
    maxTokens: chat.maxTokens.value,
    thinking: chat.thinking.value,
    tools: chat.tools.value,
    hasSchema: chat.hasSchema.value,
    schemaText: chat.schemaText.value,
    prompt: chat.prompt.value,
    files: chat.files.value,
    panes: chat.panes.map(({ model, turns }) => ({
      model: model.value,
      turns: turns.value.map((turn) => turn.role === "reply" ? keptReplyOf(turn, hasEvents) : turn),
    })),
  };
}

/** Shows a chat that was kept in the tab. Anything else is left out. */
export function restoreChat(chat: ChatState, value: unknown): void {
  if (!isKeptChat(value)) return;
  chat.protocol.value = value.protocol;
  chat.hasTwo.value = value.hasTwo;
  chat.system.value = value.system;
  chat.temperature.value = value.temperature;
  chat.maxTokens.value = value.maxTokens;
  chat.thinking.value = value.thinking;
  for (const { definition, mockResult } of value.tools) chat.addTool(definition, mockResult);
  chat.hasSchema.value = value.hasSchema;
  chat.schemaText.value = value.schemaText;
  chat.prompt.value = value.prompt;
  chat.files.value = value.files;
  for (const [place, pane] of chat.panes.entries()) restorePane(pane, value.panes[place]);
}

function isKeptChat(value: unknown): value is KeptChat {
  return typeof value === "object" && value !== null && "version" in value && value.version === VERSION;
}

function restorePane(pane: Pane, kept: KeptPane | undefined): void {
  if (kept === undefined) return;
  pane.model.value = kept.model;
  pane.restore(kept.turns.map((turn): Turn => turn.role === "reply" ? replyTurnOf(turn) : turn));
}

function keptReplyOf({ role, id, request, exchange, state, reader, error }: ReplyTurn, hasEvents: boolean): KeptReply {
  return {
    role,
    id,
    request,
    exchange: hasEvents ? exchange : withoutEvents(exchange),
    state,
    reply: reader.reply,
    own: reader.own(),
    error: error &&
      { message: error.message, status: error.status, code: error.code, requestId: error.requestId },
  };
}

function withoutEvents(exchange: Exchange): Exchange {
  return { ...exchange, events: [], furtherEvents: exchange.furtherEvents + exchange.events.length };
}

/** The request of an answer that was arriving ended with the page. What had arrived stays. */
function replyTurnOf({ reply, own, error, state, ...turn }: KeptReply): ReplyTurn {
  return {
    ...turn,
    state: state === "running" ? "stopped" : state,
    reader: { reply, take: () => {}, own: () => own },
    error: error && new ApiError(error.message, error.status, error.code, error.requestId),
  };
}
