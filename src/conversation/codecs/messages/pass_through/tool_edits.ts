import { type BodyEdits, joinedEdits, NO_EDITS } from "../../../parts/request/body_edits.ts";
import type { PassThroughRequest, ReplyRestorer } from "../../../contract/pass_through.ts";
import { CheckedTools } from "../../../schemas/checked_tools.ts";
import { isObject, objectOf } from "../../../neutral/wire_value.ts";
import { type EnforcedEdits, enforcedEditsOf, NO_ENFORCED_EDITS, wantsEnforcement } from "./enforced_edits.ts";
import { nameEditsOf } from "./property_names.ts";
import { schemaEditsOf } from "./sent_schemas.ts";

const CHECKED = new CheckedTools();

/** The edits of schemas that the vendor refuses. */
export interface SchemaEdits {
  readonly edits: BodyEdits;
  /** Restores the names of the properties of tools in replies. */
  readonly restorer: ReplyRestorer | null;
  /** The schema of a reply that is requested in the instructions only; null for none. */
  readonly described: unknown;
}

/**
 * Edits the schemas that the vendor refuses, of tools and of the reply, and the names of properties that it does not
 * accept.
 */
export function toolEditsOf(request: PassThroughRequest): SchemaEdits {
  // Compatible vendors accept any schema.
  if (request.quirks.has("any_property_names")) return { edits: NO_EDITS, restorer: null, described: null };
  const searched = CHECKED.toSearch(request);
  const enforced = enforcedOf(request);
  const { described } = enforced;
  const schemas = joinedEdits(schemaEditsOf(searched), enforced);
  const names = nameEditsOf(searched, enforced.strictTools);
  if (names !== null) {
    // Of two edits of one schema, the first is applied.
    const edits = joinedEdits({ edits: names.edits, droppedFields: [] }, schemas);
    return { edits, restorer: names.restorer, described };
  }
  if (schemas === NO_EDITS && searched === request) CHECKED.add(request);
  return { edits: schemas, restorer: null, described };
}

/** Strict tools that are enforced as they are, in requests without a format, which has limits in common with them. */
const ENFORCED = new CheckedTools();

function enforcedOf(request: PassThroughRequest): EnforcedEdits {
  const { body, facts, quirks } = request;
  if (!wantsEnforcement(body)) return NO_ENFORCED_EDITS;
  const isAlone = !isObject(objectOf(body.output_config)?.format) && facts.hasOutputSchemas !== false &&
    !quirks.has("no_output_schemas");
  if (isAlone && ENFORCED.toSearch(request) !== request) return NO_ENFORCED_EDITS;
  const edits = enforcedEditsOf(request);
  if (isAlone && edits === NO_ENFORCED_EDITS) ENFORCED.add(request);
  return edits;
}
