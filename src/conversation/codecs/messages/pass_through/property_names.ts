import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import { editJson, type JsonEdit, JsonRewrite } from "../../../../platform/lib/json/json_edits.ts";
import type { Frame } from "../../../../platform/lib/streams/frame.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { PassThroughRequest, ReplyRestorer, StreamRestorer } from "../../../contract/pass_through.ts";
import { type PropertyNames, propertyNamesOf, withPropertyNames } from "../../../schemas/property_names.ts";
import { KeyRenamer, renamedKeys, withRenamedKeys } from "../../../schemas/renamed_keys.ts";
import { acceptedSchema } from "./sent_schemas.ts";
import { isObject, listOf, objectOf, objectsOf, parsedOrNull, textOf } from "../../../neutral/wire_value.ts";
import type { ToolPropertyNames } from "../../../neutral/write_result.ts";

/** The changes of a request whose tools have names of properties that the vendor does not accept. */
export interface NameEdits {
  readonly edits: readonly JsonEdit[];
  readonly restorer: ReplyRestorer;
}

/**
 * Renames the properties of tools whose names Anthropic refuses, in schemas, in their examples and in earlier calls.
 * Returns null if all names are accepted.
 *
 * @param strictTools Whether the schema of a tool is enforced, by the index of a tool whose schema changes for that.
 */
export function nameEditsOf(
  { body, wholeBody }: PassThroughRequest,
  strictTools: ReadonlyMap<number, boolean>,
): NameEdits | null {
  if (!objectsOf(body.tools).some(hasOtherNames)) return null;
  const { tools, messages } = wholeBody();
  const names = new Map<string, PropertyNames>();
  const edits: JsonEdit[] = [];
  listOf(tools).forEach((tool, index) => {
    const schema = isObject(tool) ? objectOf(tool.input_schema) : null;
    const found = schema === null ? null : propertyNamesOf(schema);
    if (!isObject(tool) || schema === null || found === null) return;
    names.set(textOf(tool.name), found);
    const accepted = acceptedSchema(withPropertyNames(schema, found), strictTools.get(index) === true);
    edits.push({ path: ["tools", index, "input_schema"], value: accepted });
    const examples = renamedKeys(tool.input_examples, found.wire);
    if (examples !== tool.input_examples) edits.push({ path: ["tools", index, "input_examples"], value: examples });
  });
  listOf(messages).forEach((message, index) => {
    const path = ["messages", index];
    if (isObject(message)) {
      appendAll(edits, callEdits(message.content, [...path, "content"], (name) => names.get(name)?.wire));
    }
  });
  return { edits, restorer: restorerOf(new Map([...names].map(([tool, { own }]) => [tool, own]))) };
}

function hasOtherNames({ input_schema: schema }: JsonObject): boolean {
  return isObject(schema) && propertyNamesOf(schema) !== null;
}

/** The edits of the calls among blocks of content. */
function callEdits(
  content: unknown,
  path: JsonEdit["path"],
  namesOf: (tool: string) => ReadonlyMap<string, string> | undefined,
): JsonEdit[] {
  return listOf(content).flatMap((block, index): JsonEdit[] => {
    if (!isObject(block) || block.type !== "tool_use") return [];
    const names = namesOf(textOf(block.name));
    if (names === undefined) return [];
    return [{ path: [...path, index, "input"], value: new JsonRewrite((json) => withRenamedKeys(json, names)) }];
  });
}

/** Creates a restorer of the caller's names of properties. */
export function restorerOf(names: ToolPropertyNames): ReplyRestorer {
  const ownOf = (tool: string) => names.get(tool);
  return {
    names,
    whole: (bytes, reply) => editJson(bytes, isObject(reply) ? callEdits(reply.content, ["content"], ownOf) : []),
    stream: () => streamRestorer(ownOf),
  };
}

/** Restores names in the arguments of calls, which a stream sends in pieces. */
function streamRestorer(ownOf: (tool: string) => ReadonlyMap<string, string> | undefined): StreamRestorer {
  const renamers = new Map<unknown, KeyRenamer>();
  return {
    isRelevant: (text) => text.includes("content_block_"),
    restore(data) {
      const event = objectOf(parsedOrNull(data));
      if (event === null) return null;
      switch (event.type) {
        case "content_block_start": {
          const block = objectOf(event.content_block);
          const own = block?.type === "tool_use" ? ownOf(textOf(block.name)) : undefined;
          if (own === undefined || block === null) return null;
          renamers.set(event.index, new KeyRenamer(own));
          const input = renamedKeys(block.input, own);
          return input === block.input ? null : [frameOf({ ...event, content_block: { ...block, input } })];
        }
        case "content_block_delta": {
          const delta = objectOf(event.delta);
          const renamer = renamers.get(event.index);
          if (renamer === undefined || typeof delta?.partial_json !== "string") return null;
          const partial = renamer.push(delta.partial_json);
          if (partial === delta.partial_json) return null;
          return [frameOf({ ...event, delta: { ...delta, partial_json: partial } })];
        }
        case "content_block_stop": {
          const rest = renamers.get(event.index)?.end() ?? "";
          renamers.delete(event.index);
          if (rest === "") return null;
          const delta = { type: "input_json_delta", partial_json: rest };
          return [frameOf({ type: "content_block_delta", index: event.index, delta }), frameOf(event)];
        }
        default:
          return null;
      }
    },
  };
}

function frameOf(event: JsonObject): Frame {
  return { event: textOf(event.type), data: JSON.stringify(event) };
}
