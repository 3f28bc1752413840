import { namedEntries, withoutSecrets } from "../../../config/diff/config_diff.ts";
import type { ConfigTree } from "../../../config/tree/plain_tree.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";

/** What is shown of a configuration, and where it comes from. */
export interface ShownConfig {
  readonly tree: ConfigTree;
  /** The absolute path of the file; null without one. */
  readonly path: string | null;
  /** The version of the settings in the store; 0 for none. */
  readonly version: number;
  /** Whether the configuration stays until the gateway stops. */
  readonly isReadOnly: boolean;
}

/**
 * `{file, version, is_read_only, shadowed, settings}`: each setting with its value and its owner, without secrets.
 * Source: docs/api/admin.md#configuration.
 */
export function shownConfig(shown: ShownConfig): JsonObject {
  const { tree, path: file, version, isReadOnly } = shown;
  const settings: Record<string, Record<string, JsonObject>> = {};
  for (const [section, within] of Object.entries(tree.sections)) {
    const entries: Record<string, JsonObject> = settings[section] = {};
    for (const [name, value, path] of namedEntries(section, within)) {
      entries[name] = {
        value: withoutSecrets(value, path, tree),
        owner: ownerText(shown, section, name),
        ...tree.ownerOf(section, name) === "file" && { path: tree.pathOf(section, name) },
      };
    }
  }
  for (const [section, fields] of Object.entries(tree.unset)) {
    const entries = settings[section] ??= {};
    for (const [name, value] of Object.entries(fields)) entries[name] ??= { value, owner: "default" };
  }
  return { file, version, is_read_only: isReadOnly, shadowed: tree.shadowed, settings };
}

function ownerText({ tree, path, version }: ShownConfig, section: string, name: string): string {
  switch (tree.ownerOf(section, name)) {
    case "file":
      return `file ${path ?? tree.source}`;
    case "command":
      return `command ${tree.source}`;
    case "store":
      return `store version ${version}`;
    case "built_in":
      return "built in";
    default:
      return "environment";
  }
}
