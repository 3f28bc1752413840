import type { RequestTarget } from "../../../contract/upstream_format.ts";
import { wireToolName } from "../shared/names.ts";

/** State of writing one request: its target, the dropped fields, and the tool names that were changed. */
export interface Writing {
  readonly target: RequestTarget;
  readonly droppedFields: Set<string>;
  /** Original names by their names on the wire, only where they differ. */
  readonly toolNames: Map<string, string>;
}

/** A tool's name on the wire, recorded so that names in the reply can be mapped back. */
export function toolNameFor(writing: Writing, tool: string): string {
  const name = wireToolName(tool);
  if (name !== tool) writing.toolNames.set(name, tool);
  return name;
}
