import { type AlternatingTurn, isVisible, pairCalls } from "../../../parts/request/alternating_turns.ts";
import type { Conversation } from "../../../neutral/conversation.ts";
import { searchToWrite } from "../../../parts/request/offered_search.ts";
import { withAcceptedNames } from "../../../schemas/accepted_names.ts";
import { anthropicDialect } from "../../../schemas/anthropic_dialect.ts";
import { dialectFor } from "../../../schemas/schema_dialect.ts";
import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { WriteResult } from "../../../neutral/write_result.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { limitCachePoints, writeCachePoint } from "./cache_points.ts";
import { type ModelTraits, traitsOf } from "./model_traits.ts";
import { supportedTurns } from "./supported_turns.ts";
import { describedFormat, writeSettings } from "./write_settings.ts";
import { wireCallId, wireToolName, writeToolConfig } from "./write_tools.ts";
import type { Writing } from "./writing.ts";
import { writeTurns } from "./write_turns.ts";

/**
 * Writes a request, adapted to what the model accepts. The model and the kind of the reply are in the path.
 *
 * @throws {GatewayError} `invalid_request` for media that the format does not support, and for a search that the
 * request depends on.
 */
export function writeRequest(sent: Conversation, target: RequestTarget): WriteResult<JsonObject> {
  const { conversation, written } = withAcceptedNames(sent);
  const droppedFields = new Set<string>();
  const traits = traitsOf(target);
  const turns = withoutBareReasoning(
    pairCalls(supportedTurns(conversation.turns, target, droppedFields), wireCallId, droppedFields),
    traits,
    droppedFields,
  );
  searchToWrite(conversation, false, { format: "converse", settings: [] }, droppedFields);
  const dialect = dialectFor(target.facts, anthropicDialect(traits));
  const { outputFormat } = conversation;
  // The format of the reply comes before the tools, which have limits in common with it.
  const format = outputFormat?.kind === "json_schema" ? dialect.output(outputFormat.schema, true) : null;
  const writing = { traits, dialect, format, droppedFields };
  const system = writeSystem(conversation, writing);
  const body: JsonObject = {
    messages: writeTurns(turns, writing),
    ...(system.length > 0 ? { system } : {}),
    ...writeToolConfig(conversation, calledTools(turns), writing),
    ...writeSettings(conversation, target, writing),
  };
  limitCachePoints(body, droppedFields);
  return { body, droppedFields: [...droppedFields], ...renamedTools(conversation, turns), ...written };
}

/**
 * Handles a last turn of the assistant. One with only reasoning is removed. Models that do not continue such a turn get
 * a request to continue.
 */
function withoutBareReasoning(
  turns: readonly AlternatingTurn[],
  { takesPrefill }: ModelTraits,
  droppedFields: Set<string>,
): readonly AlternatingTurn[] {
  const last = turns.at(-1);
  if (last?.role !== "assistant") return turns;
  if (last.parts.every((part) => part.kind === "reasoning")) {
    droppedFields.add("reasoning_signature");
    return turns.slice(0, -1);
  }
  if (takesPrefill) return turns;
  droppedFields.add("turn_order");
  return [...turns, { role: "user", parts: [{ kind: "text", text: "Continue." }] }];
}

function writeSystem({ instructions, outputFormat }: Conversation, writing: Writing): JsonObject[] {
  const blocks = instructions.filter(isVisible).flatMap(({ text, cache, citations }) => {
    if (citations) writing.droppedFields.add("citations");
    return [{ text }, ...writeCachePoint(cache, writing)];
  });
  const rule = describedFormat(outputFormat, writing);
  return rule === null ? blocks : [...blocks, { text: rule }];
}

function calledTools(turns: readonly AlternatingTurn[]): ReadonlySet<string> {
  const calls = turns.flatMap(({ parts }) => parts).filter((part) => part.kind === "tool_call");
  return new Set(calls.map(({ tool }) => wireToolName(tool)));
}

/** The caller's names of renamed tools, by their names on the wire. */
function renamedTools(
  { tools }: Conversation,
  turns: readonly AlternatingTurn[],
): Pick<WriteResult<JsonObject>, "toolNames"> {
  const called = turns.flatMap(({ parts }) => parts).flatMap((part) => part.kind === "tool_call" ? [part.tool] : []);
  const renamed = [...tools.map(({ name }) => name), ...called].filter((name) => wireToolName(name) !== name);
  return renamed.length === 0 ? {} : { toolNames: new Map(renamed.map((name) => [wireToolName(name), name])) };
}
