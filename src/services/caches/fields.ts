import type { JsonObject } from "../../platform/lib/json/json_object.ts";

/** The fields of a cached content with two spellings: protobuf's JSON mapping accepts both. */
const SNAKE_CASE = {
  createTime: "create_time",
  displayName: "display_name",
  expireTime: "expire_time",
  systemInstruction: "system_instruction",
  toolConfig: "tool_config",
  updateTime: "update_time",
  usageMetadata: "usage_metadata",
} as const;

/** A field as sent by a caller. */
export interface SentField {
  readonly value: unknown;
  /** The caller's spelling, for messages. */
  readonly spelling: string;
}

/** A field in either spelling; null if it is missing or null, which are equal in protobuf. */
export function fieldIn(body: JsonObject, name: string): SentField | null {
  const snake: string = Object.hasOwn(SNAKE_CASE, name) ? SNAKE_CASE[name as keyof typeof SNAKE_CASE] : name;
  for (const spelling of [name, snake]) {
    const value = Object.hasOwn(body, spelling) ? body[spelling] : undefined;
    if (value !== undefined && value !== null) return { value, spelling };
  }
  return null;
}
