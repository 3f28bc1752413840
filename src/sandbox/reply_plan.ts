import type {
  Conversation,
  OutputFormat,
  RefusalPart,
  TextPart,
  Tool,
  ToolCallPart,
} from "../conversation/neutral/conversation.ts";
import type { Stop } from "../conversation/neutral/reply.ts";
import type { Directives, RequestedCall } from "./directives.ts";
import { echoOf, hasToolResults } from "./echo.ts";
import { instanceOf } from "./schema_instance.ts";
import { tokensOf } from "./tokens.ts";
import { searchFor, type SimulatedSearch } from "./web_search.ts";

/** The reasoning before the reply. */
export interface PlannedReasoning {
  readonly text: string;
  /** Whether it is never shown, whatever the request. */
  readonly redacted: boolean;
}

/** The simulated model's reply, before a vendor's endpoint writes it in its format. */
export interface ReplyPlan {
  readonly reasoning: PlannedReasoning | null;
  readonly parts: readonly (TextPart | RefusalPart | ToolCallPart)[];
  readonly stop: Stop;
  /** The search before the parts, and the text that cites it. Null if there was none. */
  readonly search: SimulatedSearch | null;
}

/**
 * Simulates the model: it follows the directives, calls a tool if it must, else echoes its input. Equal requests get
 * equal replies, except for the ids of calls.
 *
 * @param newCallId Returns an id in the vendor's spelling.
 */
export function planReply(conversation: Conversation, directives: Directives, newCallId: () => string): ReplyPlan {
  const thoughts = withinLimit(reasoningFor(conversation, directives), conversation);
  if (directives.refuses) {
    const explanation = "A directive requested a refusal";
    const refusal: RefusalPart = { kind: "refusal", text: "I cannot help with that." };
    return { reasoning: thoughts, parts: [refusal], stop: { reason: "refusal", raw: null, explanation }, search: null };
  }
  const calls = callsFor(conversation, directives);
  const found = calls.length === 0 ? searchFor(conversation, directives) : null;
  const isOrdered = directives.say !== null || directives.words !== null;
  const spoken = isOrdered || (calls.length === 0 && found === null);
  const { text, stop } = limited(spoken ? textFor(conversation, directives) : "", thoughts, conversation);
  const callParts = calls.map((call) => callPart(call, conversation.tools, newCallId));
  return {
    reasoning: thoughts,
    parts: [...(text === "" ? [] : [{ kind: "text" as const, text }]), ...callParts],
    stop: stopOf(directives, stop, calls.length > 0),
    search: found && (isOrdered ? { ...found, uncitedText: "", citedText: "" } : found),
  };
}

function stopOf({ stop }: Directives, natural: Stop, calls: boolean): Stop {
  if (stop !== null) return { reason: stop, raw: null };
  return calls && natural.reason === "end" ? { reason: "tool_calls", raw: null } : natural;
}

function reasoningFor(
  conversation: Conversation,
  { reasoning: thoughts, redactsReasoning: redacts, text }: Directives,
): PlannedReasoning | null {
  if (thoughts !== null) return { text: thoughts, redacted: redacts };
  const { reasoning } = conversation;
  if (reasoning === null || reasoning.effort === "none" || reasoning.budgetTokens === 0) return null;
  const topic = hasToolResults(conversation) ? "what the tools answered" : text.split(/\s+/).slice(0, 8).join(" ");
  return { text: `Let me think about this: ${topic}`, redacted: false };
}

/** Reasoning counts towards the limit of output tokens, and ends there. */
function withinLimit(thoughts: PlannedReasoning | null, { maxOutputTokens }: Conversation): PlannedReasoning | null {
  if (thoughts === null || maxOutputTokens === null || tokensOf(thoughts.text) <= maxOutputTokens) return thoughts;
  return { ...thoughts, text: thoughts.text.match(/\s*\S+/g)?.slice(0, maxOutputTokens).join("") ?? "" };
}

/** Returns the ordered calls, or the one that the request requires. */
function callsFor(conversation: Conversation, { calls }: Directives): readonly RequestedCall[] {
  const { tools, toolChoice, parallelToolCalls } = conversation;
  if (toolChoice?.kind === "none") return [];
  if (calls.length > 0) return parallelToolCalls === false ? calls.slice(0, 1) : calls;
  switch (toolChoice?.kind) {
    case "tool":
      return [{ tool: toolChoice.tool, input: null }];
    case "required":
      return tools.slice(0, 1).map(({ name }) => ({ tool: name, input: null }));
    case "allowed":
      return toolChoice.mode === "required" ? toolChoice.tools.slice(0, 1).map((tool) => ({ tool, input: null })) : [];
    default:
      return [];
  }
}

function callPart({ tool, input }: RequestedCall, tools: readonly Tool[], newCallId: () => string): ToolCallPart {
  const offered = tools.find(({ name }) => name === tool);
  const call = { kind: "tool_call" as const, callId: newCallId(), tool };
  if (offered?.kind === "custom") return { ...call, input: input ?? "text", custom: true };
  return { ...call, input: input ?? JSON.stringify(instanceOf(offered?.parameters ?? { type: "object" })) };
}

function textFor(conversation: Conversation, { say, words, text }: Directives): string {
  if (say !== null) return say;
  if (words !== null) return Array.from({ length: words }, (_, index) => `word${index + 1}`).join(" ");
  const { outputFormat } = conversation;
  return outputFormat === null ? echoOf(conversation, text) : JSON.stringify(formatted(outputFormat, text));
}

function formatted(format: OutputFormat, text: string): unknown {
  return format.kind === "json" ? { echo: text } : instanceOf(format.schema);
}

/**
 * Returns the text up to the first stop sequence, then up to the limit of tokens. Reasoning counts towards the limit.
 */
function limited(
  text: string,
  thoughts: PlannedReasoning | null,
  conversation: Conversation,
): { text: string; stop: Stop } {
  const { sampling, maxOutputTokens } = conversation;
  let stop: Stop = { reason: "end", raw: null };
  let end = text.length;
  for (const sequence of sampling.stop) {
    const at = sequence === "" ? -1 : text.indexOf(sequence);
    if (at < 0 || at >= end) continue;
    end = at;
    stop = { reason: "stop_sequence", raw: null, sequence };
  }
  const spoken = text.slice(0, end);
  const room = Math.max(0, (maxOutputTokens ?? Infinity) - (thoughts ? tokensOf(thoughts.text) : 0));
  if (tokensOf(spoken) <= room) return { text: spoken, stop };
  const kept = spoken.match(/\s*\S+/g)!.slice(0, room).join("");
  return { text: kept, stop: { reason: "max_tokens", raw: null } };
}
