import { builtInEntries } from "../catalog/built_in.ts";
import { isSection, type Section } from "./document.ts";
import { overridePaths } from "./environment.ts";
import type { Environment } from "./expansion.ts";
import type { Problems } from "./problems.ts";

/** Where a setting comes from. */
export type SettingOwner = "file" | "environment" | "store" | "built_in" | "command";

/** Settings that live in the store: the entries of each section by name, as an operator would write them. */
export type StoredConfig = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The sections whose entries can live in the store. */
export const STORED_SECTIONS = ["providers", "models", "aliases", "limits", "egress", "logs"] as const;

/** The settings of the file, the environment and the store together, as an operator would write them. */
export interface ConfigTree {
  /** The name of the file or the command, or `environment`. */
  readonly source: string;
  /** All sections. Models are present even if all are built in. */
  readonly sections: Section;
  /** Where an entry is: `models[2]`, `providers.acme`, `store`. */
  pathOf(section: string, name: string): string;
  /** The owner of an entry; null if no one sets it. A setting without fields is the entry "". */
  ownerOf(section: string, name: string): SettingOwner | null;
  /** Whether a value must not be shown, as it came from an expression. */
  isPrivate(path: readonly PropertyKey[]): boolean;
  /** The entries of the store without effect, since the file or the environment declares them: `providers.acme`. */
  readonly shadowed: readonly string[];
}

/** Options of {@linkcode layTree}. */
export interface TreeOptions {
  readonly source: string;
  /** The file's tree with its expressions expanded, before overrides. */
  readonly file: Section;
  /** The same after the overrides of the environment. */
  readonly tree: Section;
  readonly stored: StoredConfig;
  readonly env: Environment;
  readonly problems: Problems;
}

/** Adds the settings of the store to those of the file and the environment, which have precedence. */
export function layTree({ source, file, tree, stored, env, problems }: TreeOptions): ConfigTree {
  const sections: Section = { ...tree };
  const layer: Layer = { sections, fromStore: new Set(), shadowed: [], problems };
  // Models come after providers, which decide the built-in ones.
  for (const section of STORED_SECTIONS) {
    const entries = Object.entries(stored[section] ?? {});
    if (section === "models") addModels(layer, entries);
    else for (const [name, value] of entries) addEntry(layer, section, name, value);
  }
  const models = sections.models ?? builtInsFor(sections);
  const hasBuiltIns = file.models === undefined || file.models === null;
  const overridden = overridePaths(env);
  const { fromStore, shadowed } = layer;
  return {
    source,
    sections: { ...sections, models },
    pathOf: (section, name) => name === "" ? section : `${section}${indexText(sections[section], name)}`,
    ownerOf(section, name) {
      if (fromStore.has(`${section} ${name}`)) return "store";
      if (overridden.has(name === "" ? section : `${section}.${name}`)) return "environment";
      if (entryOf(file, section, name) !== undefined) return "file";
      if (entryOf({ ...sections, models }, section, name) === undefined) return null;
      return section === "models" && hasBuiltIns ? "built_in" : "environment";
    },
    isPrivate: (path) => problems.isPrivate(path),
    shadowed,
  };
}

/** The settings of the store while they are added. */
interface Layer {
  readonly sections: Section;
  readonly fromStore: Set<string>;
  readonly shadowed: string[];
  readonly problems: Problems;
}

/** An entry of a section by its name: of `models` and `accounts` by its id, of a setting without fields by "". */
export function entryOf(tree: Section, section: string, name: string): unknown {
  const within = tree[section];
  if (name === "" && !Array.isArray(within) && !isSection(within)) return within;
  if (Array.isArray(within)) return within.find((each) => isSection(each) && each.id === name);
  return isSection(within) && Object.hasOwn(within, name) ? within[name] : undefined;
}

function indexText(within: unknown, name: string): string {
  if (!Array.isArray(within)) return `.${name}`;
  return `[${within.findIndex((each) => isSection(each) && each.id === name)}]`;
}

function addEntry({ sections, fromStore, shadowed, problems }: Layer, section: string, name: string, value: unknown) {
  const within = sections[section] ?? {};
  if (!isSection(within) || Object.hasOwn(within, name)) return void shadowed.push(`${section}.${name}`);
  sections[section] = { ...within, [name]: value };
  fromStore.add(`${section} ${name}`);
  problems.setOriginBelow([section, name], `store: ${section}.${name}`);
}

/** Adds models at the end. They replace built-in models with their ids. */
function addModels({ sections, fromStore, shadowed, problems }: Layer, entries: readonly [string, unknown][]): void {
  if (entries.length === 0) return;
  const isDeclared = sections.models !== undefined && sections.models !== null;
  const listed = isDeclared ? sections.models : builtInsFor(sections);
  if (!Array.isArray(listed)) return; // reported by the reader of the section
  const declared = new Set(isDeclared ? listed.map((each) => isSection(each) ? each.id : null) : []);
  const added = entries.filter(([id]) => !declared.has(id));
  const ids = new Set<unknown>(added.map(([id]) => id));
  const others = listed.filter((each) => !isSection(each) || !ids.has(each.id));
  sections.models = [...others, ...added.map(([id, fields]) => isSection(fields) ? { ...fields, id } : fields)];
  for (const [index, [id]] of added.entries()) {
    fromStore.add(`models ${id}`);
    problems.setOriginBelow(["models", others.length + index], `store: models.${id}`);
  }
  for (const [id] of entries) if (declared.has(id)) shadowed.push(`models.${id}`);
}

function builtInsFor(sections: Section): unknown[] {
  return builtInEntries(new Set(isSection(sections.providers) ? Object.keys(sections.providers) : []));
}
