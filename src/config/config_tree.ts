import { builtInEntries } from "../vendors/catalog/built_in.ts";
import { isSection, type Section } from "./tree/section.ts";
import { overridePaths } from "./overrides.ts";
import type { Environment } from "./tree/expansion.ts";
import { type StoredConfig, storedStatesIn, type WrittenTree } from "./tree/plain_tree.ts";
import type { Problems } from "./tree/problems.ts";

/** The sections whose entries can live in the store. */
export const STORED_SECTIONS = ["providers", "models", "aliases", "limits", "egress", "logs"] as const;

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
export function layTree({ source, file, tree, stored, env, problems }: TreeOptions): WrittenTree {
  const sections: Section = { ...tree };
  const layer: Layer = { sections, hasAll: addsBuiltIns(tree), fromStore: new Set(), shadowed: [], problems };
  // Models come after providers, which decide the built-in ones.
  for (const section of STORED_SECTIONS) {
    const entries = Object.entries(stored[section] ?? {});
    if (section === "models") addModels(layer, entries);
    else for (const [name, value] of entries) addEntry(layer, section, name, value);
  }
  addProviderStates(sections, stored);
  const models = sections.models ?? builtInsFor(sections);
  const { fromStore, shadowed } = layer;
  return {
    source,
    file,
    sections,
    models,
    fromStore,
    overridden: new Set(overridePaths(env).keys()),
    hasBuiltIns: file.models === undefined || file.models === null || layer.hasAll,
    privatePaths: problems.privatePaths,
    shadowed,
  };
}

/** Replaces the states of providers by those that the admin API has set, which hold for providers of every origin. */
function addProviderStates(sections: Section, stored: StoredConfig): void {
  const { providers } = sections;
  if (!isSection(providers)) return;
  const changed = Object.entries(storedStatesIn(stored)).flatMap(([name, { state }]) => {
    const provider = Object.hasOwn(providers, name) ? providers[name] : null;
    return isSection(provider) ? [[name, { ...provider, state }] as const] : [];
  });
  if (changed.length > 0) sections.providers = { ...providers, ...Object.fromEntries(changed) };
}

/** The settings of the store while they are added. */
interface Layer {
  readonly sections: Section;
  /** Whether the built-in models are beside those of the file. */
  readonly hasAll: boolean;
  readonly fromStore: Set<string>;
  readonly shadowed: string[];
  readonly problems: Problems;
}

function addEntry({ sections, fromStore, shadowed, problems }: Layer, section: string, name: string, value: unknown) {
  const within = sections[section] ?? {};
  if (!isSection(within) || Object.hasOwn(within, name)) return void shadowed.push(`${section}.${name}`);
  sections[section] = { ...within, [name]: value };
  fromStore.add(`${section} ${name}`);
  problems.setOriginBelow([section, name], `store: ${section}.${name}`);
}

/** Adds models at the end. They replace built-in models with their ids. */
function addModels(layer: Layer, entries: readonly [string, unknown][]): void {
  const { sections, hasAll, fromStore, shadowed, problems } = layer;
  const isDeclared = sections.models !== undefined && sections.models !== null;
  if (entries.length === 0 && !(isDeclared && hasAll)) return;
  const own = isDeclared ? sections.models : [];
  if (!Array.isArray(own)) return; // reported by the reader of the section
  const declared = new Set(idsIn(own));
  const builtIns = isDeclared && !hasAll ? [] : builtInsFor(sections);
  const listed = [...own, ...builtIns.filter((each) => !isSection(each) || !declared.has(each.id))];
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

/** The ids of entries of `models`, as they are written. */
export function idsIn(models: readonly unknown[]): unknown[] {
  return models.map((each) => isSection(each) ? each.id : null);
}

/** Whether the built-in models of the providers are added to those of the file. */
export function addsBuiltIns({ catalog }: Section): boolean {
  return catalog === "built_in";
}

function builtInsFor(sections: Section): unknown[] {
  return builtInEntries(new Set(isSection(sections.providers) ? Object.keys(sections.providers) : []));
}
