import type { JsonEdit } from "../../../../platform/lib/json/json_edits.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { isObject, listOf } from "../../../neutral/wire_value.ts";

const DECLARATIONS = ["functionDeclarations", "function_declarations"];

/** The two spellings of `generationConfig`. */
export const CONFIGS: readonly string[] = ["generationConfig", "generation_config"];

/** A function declaration with its path. */
export interface Declaration {
  readonly path: JsonEdit["path"];
  readonly owner: JsonObject;
}

/** The declarations of functions in a request, in their order. */
export function declarationsIn(body: JsonObject): Declaration[] {
  return listOf(body.tools).flatMap((tool, index) =>
    isObject(tool)
      ? DECLARATIONS.flatMap((name) =>
        listOf(tool[name]).flatMap((owner, at) => isObject(owner) ? [{ owner, path: ["tools", index, name, at] }] : [])
      )
      : []
  );
}
