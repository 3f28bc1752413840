import type { JsonEdit } from "../../../../platform/lib/json/json_edits.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { anthropicDialect } from "../../../schemas/anthropic_dialect.ts";
import { areRefusedEnforced, isRefusedEnforced } from "../../../schemas/enforced_refusals.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { isObject, listOf, objectOf, objectsOf } from "../../../neutral/wire_value.ts";

/** The changes of a request whose schemas the vendor does not enforce as they are. */
export interface EnforcedEdits {
  /** Edits of the schemas, of `strict` and of the format. */
  readonly edits: readonly JsonEdit[];
  readonly droppedFields: readonly string[];
  /** The schema of a reply that is requested in the instructions only; null for none. */
  readonly described: unknown;
  /** Whether the schema of a tool is enforced, by the index of a tool with `strict`. */
  readonly strictTools: ReadonlyMap<number, boolean>;
}

/** A request in which nothing is enforced, or all as it is. */
export const NO_ENFORCED_EDITS: EnforcedEdits = {
  edits: [],
  droppedFields: [],
  described: null,
  strictTools: new Map(),
};

/** Whether the vendor is to enforce a schema: of a tool with `strict`, or of the reply. */
export function wantsEnforcement({ tools, output_config: config }: JsonObject): boolean {
  return isObject(objectOf(config)?.format) || objectsOf(tools).some(({ strict }) => strict === true);
}

/**
 * Edits what the vendor refuses to enforce, as in a request that is translated: schemas get the nearest form that is
 * enforced. Where there is none, or above the limits of a request, `strict` and the format are left out and named.
 */
export function enforcedEditsOf({ body, wholeBody, facts, quirks }: PassThroughRequest): EnforcedEdits {
  const takesSchemas = facts.hasOutputSchemas !== false && !quirks.has("no_output_schemas");
  if (takesSchemas && !areRefusedEnforced(schemasIn(body))) return NO_ENFORCED_EDITS;
  const whole = wholeBody();
  const dialect = anthropicDialect({ takesSchemas });
  const edits: JsonEdit[] = [];
  const droppedFields = new Set<string>();
  const strictTools = new Map<number, boolean>();
  const format = formatSchemaOf(whole);
  // The format comes first: it is of more use than strict tools, and they have limits in common.
  const reply = format === null ? null : dialect.output(format, true);
  if (reply?.isStrict === false) {
    edits.push({ path: ["output_config", "format"], value: undefined });
    droppedFields.add("output_format");
  } else if (reply !== null && format !== null && isRefusedEnforced(format)) {
    edits.push({ path: ["output_config", "format", "schema"], value: reply.schema });
  }
  listOf(whole.tools).forEach((tool, index) => {
    const schema = isObject(tool) && tool.strict === true ? tool.input_schema : null;
    if (!isObject(schema)) return;
    const path = ["tools", index];
    const { schema: accepted, isStrict, isChanged } = dialect.parameters(schema, true);
    strictTools.set(index, isStrict);
    if (isChanged) droppedFields.add("tool_schema");
    if (!isStrict) {
      edits.push({ path: [...path, "strict"], value: undefined });
      droppedFields.add("tool_strict");
    }
    const isKept = isStrict && !isChanged && !isRefusedEnforced(schema);
    if (!isKept && accepted !== schema) edits.push({ path: [...path, "input_schema"], value: accepted });
  });
  const described = reply?.isStrict === false ? format : null;
  return { edits, droppedFields: [...droppedFields], described, strictTools };
}

function schemasIn(body: JsonObject): { format: JsonObject | null; tools: readonly JsonObject[] } {
  const strict = objectsOf(body.tools).filter(({ strict }) => strict === true);
  return { format: formatSchemaOf(body), tools: strict.map((tool) => tool.input_schema).filter(isObject) };
}

function formatSchemaOf({ output_config: config }: JsonObject): JsonObject | null {
  return objectOf(objectOf(objectOf(config)?.format)?.schema);
}
