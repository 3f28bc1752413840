import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { type Conversation, DEFAULT_SETTINGS } from "../../neutral/conversation.ts";
import { isAbsent, isObject } from "../../neutral/wire_value.ts";

/** The settings of a request that the formats of the default protocol share, as fields to spread. */
export function readDefaultSettings(body: JsonObject): Pick<Conversation, "metadata" | "defaultSettings"> {
  const sent = DEFAULT_SETTINGS.filter((name) => !isAbsent(body[name])).map((name) => [name, body[name]] as const);
  return {
    ...(isObject(body.metadata) ? { metadata: body.metadata } : {}),
    ...(sent.length > 0 ? { defaultSettings: Object.fromEntries(sent) } : {}),
  };
}

/**
 * The inverse of {@linkcode readDefaultSettings}.
 *
 * @param isSupported False for OpenAI-compatible vendors: few of them support these settings.
 * @param droppedFields Receives the names of settings that are left out.
 */
export function writeDefaultSettings(
  { metadata, defaultSettings }: Conversation,
  isSupported: boolean,
  droppedFields: Set<string>,
): JsonObject {
  const settings = { ...(metadata ? { metadata } : {}), ...defaultSettings };
  if (isSupported) return settings;
  for (const name of Object.keys(settings)) droppedFields.add(name);
  return {};
}
