import type { StoredProviderState } from "../../platform/names/provider_halt.ts";
import { isSection, type Section } from "./section.ts";
import { type Path, pathText } from "./setting_path.ts";

/** Where a setting comes from. */
export type SettingOwner = "file" | "environment" | "store" | "built_in" | "command";

/** Settings that live in the store: the entries of each section by name, as an operator would write them. */
export type StoredConfig = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The section of a {@linkcode StoredConfig} with the states of providers that were set by the admin API. */
export const PROVIDER_STATES_SECTION = "provider_states";

/** The states of providers in the settings of the store, by name. */
export function storedStatesIn(stored: StoredConfig): Readonly<Record<string, StoredProviderState>> {
  return (stored[PROVIDER_STATES_SECTION] ?? {}) as Readonly<Record<string, StoredProviderState>>;
}

/** The settings of the file, the environment and the store together, as an operator would write them. */
export interface ConfigTree extends EntryFacts {
  /** The name of the file or the command, or `environment`. */
  readonly source: string;
  /** All sections. Models are present even if all are built in. */
  readonly sections: Section;
  /** Where an entry is: `models[2]`, `providers.acme`, `store`. */
  pathOf(section: string, name: string): string;
  /** The owner of an entry; null if no one sets it. A setting without fields is the entry "". */
  ownerOf(section: string, name: string): SettingOwner | null;
  /** Whether a value must not be shown, as it came from an expression. */
  isPrivate(path: Path): boolean;
  /** The entries of the store without effect, since the file or the environment declares them: `providers.acme`. */
  readonly shadowed: readonly string[];
}

/** What follows from the entries of the settings. */
export interface EntryFacts {
  readonly live: LiveSettings;
  /** The settings in which gateways on one store differ: `server.port`. */
  readonly local: ReadonlySet<string>;
  readonly unset: UnsetSettings;
}

/**
 * The settings whose change takes effect without a restart, by section: their names in the file, each with that in the
 * code. Null for all settings of a section.
 */
export type LiveSettings = ReadonlyMap<string, ReadonlyMap<string, string> | null>;

/**
 * The settings that no one has set, by section, with their values as an operator would write them: times in seconds,
 * sizes in bytes, and null for secrets. Named entries have no defaults.
 */
export type UnsetSettings = Readonly<Record<string, Section>>;

/** Whether a change of an entry takes effect without a restart: `limits`, `text_body`. */
export function isLive({ live }: Pick<ConfigTree, "live">, section: string, name: string): boolean {
  const names = live.get(section);
  return names === null || names?.has(name) === true;
}

/** What a {@linkcode ConfigTree} is made of, as plain data, which can be sent to another thread. */
export type PlainTree = WrittenTree & EntryFacts;

/** The settings that are set, as plain data. */
export interface WrittenTree {
  readonly source: string;
  /** The file's tree with its expressions expanded, before overrides. */
  readonly file: Section;
  /** All sections, without models that are built in. */
  readonly sections: Section;
  /** The section `models`, also if all are built in. */
  readonly models: unknown;
  /** The entries of the store in force: `providers acme`. */
  readonly fromStore: ReadonlySet<string>;
  /** The settings for which environment variables are set: `server.port`. */
  readonly overridden: ReadonlySet<string>;
  /** Whether the file has no models. */
  readonly hasBuiltIns: boolean;
  /** The paths of values that came from expressions. */
  readonly privatePaths: ReadonlySet<string>;
  readonly shadowed: readonly string[];
}

/** The tree over its data. */
export function treeOf(plain: PlainTree): ConfigTree {
  const { source, file, sections, models, fromStore, overridden, hasBuiltIns, privatePaths, ...others } = plain;
  const all = { ...sections, models };
  return {
    source,
    sections: all,
    pathOf: (section, name) => name === "" ? section : `${section}${indexText(sections[section], name)}`,
    ownerOf(section, name) {
      if (fromStore.has(`${section} ${name}`)) return "store";
      if (overridden.has(name === "" ? section : `${section}.${name}`)) return "environment";
      if (entryOf(file, section, name) !== undefined) return "file";
      if (entryOf(all, section, name) === undefined) return null;
      return section === "models" && hasBuiltIns ? "built_in" : "environment";
    },
    isPrivate: (path) => privatePaths.has(pathText(path)),
    ...others,
  };
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
