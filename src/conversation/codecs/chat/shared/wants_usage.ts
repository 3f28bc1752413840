import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { objectOf } from "../../../neutral/wire_value.ts";

/**
 * Whether a request asks for usage in its stream: `stream_options.include_usage`, or OpenRouter's `usage.include`.
 */
export function wantsUsage(body: JsonObject): boolean {
  return hasUsageOption(body) || objectOf(body.usage)?.include === true;
}

/** Whether a request asks for usage by the option that every vendor supports. */
export function hasUsageOption(body: JsonObject): boolean {
  return objectOf(body.stream_options)?.include_usage === true;
}
