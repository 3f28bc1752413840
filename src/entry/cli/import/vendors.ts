import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import type { ModelUse } from "../../../vendors/prices/model_use.ts";
import { ALL_VENDORS } from "../../../vendors/upstreams/configured_vendors.ts";
import { listsModels, type ProviderKind } from "../../../vendors/upstreams/kinds.ts";
import {
  hasBuiltInModels,
  importsOf,
  keyNameOf,
  type Vendor,
  type VendorImport,
} from "../../../vendors/upstreams/vendor.ts";
import { kindNameOf, type PresetName, presetOf, VENDORS } from "../../../vendors/upstreams/vendors.ts";

/** A vendor in another program's configuration. */
export interface ImportedVendor {
  readonly kind: ProviderKind | PresetName;
  /** The first part of its models' ids in a list of prices. */
  readonly name: string;
  /** The first part of the ids of its built-in models. Default: none is built in. */
  readonly family?: string;
  /** The variable in which the other programs expect the key; null for servers that need none. */
  readonly keyName: string | null;
  /** What this gateway serves of it. */
  readonly uses: readonly ModelUse[];
  /** The use of models whose names do not tell. Default: text. */
  readonly defaultUse?: ModelUse;
  /** The address for a use, where the default of the kind is not the vendor's. */
  readonly addresses?: Readonly<Partial<Record<ModelUse, string>>>;
  /** What the other programs leave out of a base address: `/v1`. */
  readonly addedPath?: string;
  /** The same, where it depends on the use. */
  readonly addedPaths?: Readonly<Partial<Record<ModelUse, string>>>;
  /** What the other programs have in the base address beyond ours. */
  readonly removedPath?: RegExp;
  /** Whether the base address must be stated. */
  readonly needsAddress?: boolean;
  /** Whether its models can be listed. Default: if those of the kind can. */
  readonly listsModels?: false;
}

/** A server of OpenAI's format that is known by its address only. */
const ANY_SERVER: ImportedVendor = {
  kind: "openai",
  name: "openai",
  keyName: null,
  uses: ["text", "embedding", "rerank", "moderation", "speech", "transcription", "image"],
  needsAddress: true,
};

/** All vendors of LiteLLM and Bifrost by their names there. */
const IMPORTED: Readonly<Record<string, ImportedVendor>> = {
  ...Object.fromEntries(
    ALL_VENDORS.flatMap(([name, vendor]) =>
      Object.entries(importsOf(name, vendor)).map(([as, own]) => [as, importedVendor(name, vendor, own)])
    ),
  ),
  openai_like: ANY_SERVER,
  custom_openai: ANY_SERVER,
  litellm_proxy: ANY_SERVER,
};

function importedVendor(name: string, vendor: Vendor, own: VendorImport): ImportedVendor {
  const { addedPath, addedPaths, removedPath } = own;
  const family = own.family ?? (hasBuiltInModels(vendor) ? name : undefined);
  const uses = own.uses ?? vendor.uses ?? ["text", "embedding"];
  // A preset has one address. Where another one counts, or there is no preset, the address is written.
  const hasAddresses = vendor.addresses !== undefined || (kindNameOf(name, vendor) === "openai" && name !== "openai");
  const addresses = hasAddresses
    ? Object.fromEntries(uses.map((use) => [use, vendor.addresses?.[use] ?? vendor.baseUrl ?? ""]))
    : own.baseUrl && Object.fromEntries(uses.map((use) => [use, own.baseUrl ?? ""]));
  return {
    kind: (hasAddresses ? vendor.kind : kindNameOf(name, vendor)) as ImportedVendor["kind"],
    name: own.name ?? name,
    ...family !== undefined && { family },
    keyName: own.keyName === undefined ? vendor.keyNames[0] ?? null : own.keyName,
    uses,
    ...vendor.defaultUse && { defaultUse: vendor.defaultUse },
    ...addresses && { addresses },
    ...addedPath && { addedPath },
    ...addedPaths && { addedPaths },
    ...removedPath && { removedPath },
    ...vendor.listsModels === false && { listsModels: false },
  };
}

/** Other names of vendors. `vertex_ai-anthropic_models` and its like are in LiteLLM's list of prices. */
const SAME_VENDORS: readonly (readonly [RegExp, string])[] = [
  [/^vertex(_ai)?(_beta|-.+)?$/, "vertex_ai"],
  [/^fireworks_ai-.+$/, "fireworks_ai"],
];

/** A vendor by its name in the other program; null if this gateway does not have it. */
export function vendorNamed(name: string): ImportedVendor | null {
  const same = SAME_VENDORS.find(([pattern]) => pattern.test(name))?.[1] ?? name;
  return ownValue(IMPORTED, same) ?? null;
}

/** The variable in which the other programs expect the key of Azure. */
export const AZURE_KEY_NAME: string = IMPORTED.azure?.keyName ?? keyNameOf("azure", VENDORS.azure);

/** All of them by their names there. */
export const IMPORTED_VENDORS: readonly (readonly [name: string, vendor: ImportedVendor])[] = Object.entries(IMPORTED);

/** The name of the provider for a use, where a vendor has a separate address for it. */
export function providerNameFor({ addedPaths }: ImportedVendor, use: ModelUse, name: string): string {
  return addedPaths !== undefined && addedPaths[use] !== addedPaths.text ? `${name}-${use}` : name;
}

/** The vendor of a model that is named without one. Source: LiteLLM, `get_llm_provider`. */
export function vendorOfBareName(model: string): string | null {
  if (/^(gpt-|chatgpt-|o[1-9](-|$)|ft:gpt|codex-|dall-e|text-embedding|omni-moderation|whisper|tts-)/.test(model)) {
    return "openai";
  }
  if (/^claude-/.test(model)) return "anthropic";
  if (/^gemini-/.test(model)) return "vertex_ai";
  if (/^(command-|rerank-|embed-)/.test(model)) return "cohere";
  return null;
}

/** Whether the servers of a kind are the operator's own, so that their models have no price. */
export function isOwnServer(kind: string): boolean {
  return kind === "ollama" || kind === "vllm" || kind === "lmstudio";
}

/** The kind of a vendor whose format is that of another one, else its own. */
export function kindOf({ kind }: ImportedVendor): ProviderKind {
  return presetOf(kind)?.kind ?? kind as ProviderKind;
}

/** Whether a pattern can stand for the models of a vendor. */
export function canListModels(vendor: ImportedVendor): boolean {
  return vendor.listsModels !== false && listsModels(kindOf(vendor));
}

/**
 * A base address of the other program as one of ours.
 *
 * @param address As written there; null for the vendor's own.
 * @param write Writes the address, of which the beginning may be a variable.
 */
export function baseUrlOf(
  vendor: ImportedVendor,
  use: ModelUse,
  address: string | null,
  write: (address: string) => string,
): string | null {
  if (address === null) return vendor.addresses?.[use] ?? null;
  const trimmed = address.replace(/\/+$/, "").replace(vendor.removedPath ?? /$^/, "").replace(/\/+$/, "");
  const added = vendor.addedPaths?.[use] ?? vendor.addedPath ?? "";
  return write(trimmed) + (trimmed.endsWith(added) ? "" : added);
}
