import type { JsonObject } from "../../../../lib/json_object.ts";
import { objectOf } from "../../../wire_value.ts";

/** Whether a request asks for usage in its stream: `stream_options.include_usage`. */
export function wantsUsage(body: JsonObject): boolean {
  return objectOf(body.stream_options)?.include_usage === true;
}
