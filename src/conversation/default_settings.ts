import type { JsonObject } from "../lib/json_object.ts";
import { type Conversation, DEFAULT_SETTINGS } from "./conversation.ts";
import { isAbsent, isObject } from "./wire_value.ts";

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
 * @param takesThem False for vendors that only resemble the author of the formats: few of them know these settings.
 * @param losses Receives the names of those that are left out.
 */
export function writeDefaultSettings(
  { metadata, defaultSettings }: Conversation,
  takesThem: boolean,
  losses: Set<string>,
): JsonObject {
  const settings = { ...(metadata ? { metadata } : {}), ...defaultSettings };
  if (takesThem) return settings;
  for (const name of Object.keys(settings)) losses.add(name);
  return {};
}
