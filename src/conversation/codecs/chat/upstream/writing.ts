import type { RequestTarget } from "../../../upstream_format.ts";
import { wireToolName } from "./names.ts";

/** One request being written: where it goes, what it cannot say, and the tools' names that had to be respelled. */
export interface Writing {
  readonly target: RequestTarget;
  readonly losses: Set<string>;
  /** Original names by their spelling on the wire; only those that differ. */
  readonly toolNames: Map<string, string>;
}

/** A tool's legal name, remembered so that a reply's name can be mapped back. */
export function toolNameFor(writing: Writing, tool: string): string {
  const name = wireToolName(tool);
  if (name !== tool) writing.toolNames.set(name, tool);
  return name;
}
