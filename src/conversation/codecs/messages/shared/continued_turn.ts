import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";

/** The text by which a model that does not continue a turn of the assistant is asked to go on. */
export const CONTINUE = "Continue.";

/** The user's message with {@linkcode CONTINUE}. */
export function continuedTurn(): JsonObject {
  return { role: "user", content: CONTINUE };
}
