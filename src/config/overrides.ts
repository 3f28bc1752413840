import type { Environment } from "./tree/expansion.ts";
import type { Problems } from "./tree/problems.ts";
import type { Section } from "./tree/section.ts";
import { settingsOfVariables } from "./setting_entries.ts";

/** The settings for which environment variables are set: `server.port`, with the names of the variables. */
export function overridePaths(environment: Environment): ReadonlyMap<string, string> {
  const set = [...settingsOfVariables()].filter(([name]) => environment(name));
  return new Map(set.map(([name, path]) => [path.join("."), name]));
}

/** Sets the fields for which environment variables are set. They override the file. An empty variable is not set. */
export function applyOverrides(tree: Section, environment: Environment, problems: Problems): void {
  for (const [name, path] of settingsOfVariables()) {
    const value = environment(name);
    if (!value) continue;
    const [section, field] = path;
    if (section === undefined) continue;
    if (field === undefined) tree[section] = value;
    else {
      const within = tree[section] ?? {};
      if (typeof within !== "object" || Array.isArray(within)) continue; // A problem of the file, reported by the reader of the section.
      tree[section] = { ...within, [field]: value };
    }
    problems.setOrigin(path, `environment: ${name}`);
  }
}
