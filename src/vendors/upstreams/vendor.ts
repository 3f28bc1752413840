import type { Quirk } from "../../conversation/contract/quirks.ts";
import type { Made, ProviderKind } from "./kinds.ts";

/** What the gateway knows of a vendor before it loads the adapter. Every fact about a vendor is in its row. */
export interface Vendor {
  readonly kind: ProviderKind;
  /** The base URL that the vendor documents for clients of the kind; null if every account has its own. */
  readonly baseUrl: string | null;
  /** The address in a region, for clouds. Null: that of `baseUrl`. */
  readonly regionalUrl?: (region: string) => string | null;
  /** The base URL for a use, where it is another one. */
  readonly addresses?: Readonly<Partial<Record<VendorUse, string>>>;
  /** Hosts of the vendor, next to those of its addresses: of other regions, or of accounts. */
  readonly otherHosts?: readonly string[];
  /** Whether its format is that of another kind, and its name can be the value of `kind`. Default: no. */
  readonly isPreset?: true;
  /** Variables of the key. The first that is set counts. None for servers that need no key. */
  readonly keyNames: readonly string[];
  /** Variables of a key and its secret key, for accounts without a key in `keyNames`. */
  readonly pairNames?: readonly [key: string, secretKey: string];
  /** The variable of a token that belongs to the pair. Default: none. */
  readonly sessionTokenName?: string;
  /** The variable of the key for the vendor's reports. Default: none. */
  readonly reportKeyName?: string;
  /** Variables of a base address that replaces the default. The first that is set counts. Default: none. */
  readonly addressNames?: readonly string[];
  /** Variables of the region. The first that is set counts. Default: none. */
  readonly regionNames?: readonly string[];
  /** Whether models of the vendor are built in, with their prices; their ids begin with its name. Default: yes. */
  readonly hasBuiltInModels?: false;
  /** Whether the vendor has a list with the names that requests need. Default: if the kind has. */
  readonly listsModels?: false;
  /** What is added to a base URL that does not end in it. Default: nothing. */
  readonly path?: string;
  /** The header field of the key. Default: that of the kind. */
  readonly keyHeader?: string;
  /** The text endpoints, where the vendor has other ones than chat completions. */
  readonly speaks?: "responses";
  /** How its formats differ from those of most compatible vendors. Default: they do not. */
  readonly quirks?: QuirkChanges;
  /** Whether its hosts have a messages format that is compatible with Anthropic's. Default: no. */
  readonly hasMessages?: true;
  /** What this gateway serves of it, for imports. Default: text and embeddings. */
  readonly uses?: readonly VendorUse[];
  /** The use of models whose names do not tell. Default: text. */
  readonly defaultUse?: VendorUse;
  /** Its names in LiteLLM and Bifrost, next to its own name if it has the format of OpenAI. Default: no others. */
  readonly imports?: Readonly<Record<string, VendorImport>>;
  /** The first part of the ids of its models at OpenRouter. Default: its name. Null: OpenRouter has none. */
  readonly openrouterName?: string | null;
  /** Its name in the semantic conventions for generative AI. Default: the provider's name. */
  readonly tracedName?: string;
}

/** What a model is for, as an import names it. */
export type VendorUse = "text" | Exclude<Made, "edits">;

/** How a vendor's formats differ from those of most compatible vendors. */
export interface QuirkChanges {
  /** The quirks of compatible vendors that it does not have. */
  readonly without?: readonly Quirk[] | "all";
  /** Its further quirks. */
  readonly with?: readonly Quirk[];
}

/** A vendor under one of its names in LiteLLM or Bifrost. What is absent is that of the vendor. */
export interface VendorImport {
  /** The first part of its models' ids in a list of prices. Default: the name of the vendor. */
  readonly name?: string;
  /** The vendor whose built-in models it serves. Default: the vendor, if it has any. */
  readonly family?: string;
  /** The variable in which the other programs expect the key; null if it is not read from one. */
  readonly keyName?: string | null;
  readonly uses?: readonly VendorUse[];
  readonly baseUrl?: string;
  /** What the other programs leave out of a base address: `/v1`. */
  readonly addedPath?: string;
  /** The same, where it depends on the use. */
  readonly addedPaths?: Readonly<Partial<Record<VendorUse, string>>>;
  /** What the other programs have in the base address beyond ours. */
  readonly removedPath?: RegExp;
}

/** Whether models of a vendor are built in, with their prices. */
export function hasBuiltInModels(vendor: Vendor): boolean {
  return vendor.hasBuiltInModels ?? true;
}

/** The variable that clients of a vendor read the key from. */
export function keyNameOf(name: string, vendor: Vendor | null): string {
  return vendor?.keyNames[0] ?? `${name.toUpperCase().replaceAll("-", "_")}_API_KEY`;
}

/** The names of a vendor in LiteLLM and Bifrost. One with the format of OpenAI has its own name there, too. */
export function importsOf(name: string, { kind, imports = {} }: Vendor): Readonly<Record<string, VendorImport>> {
  return kind === "openai" ? { [name]: {}, ...imports } : imports;
}

/** The hosts of a vendor. */
export function hostsOf({ baseUrl, addresses = {}, otherHosts = [] }: Vendor): readonly string[] {
  const urls = [...baseUrl === null ? [] : [baseUrl], ...Object.values(addresses)];
  return [...urls.map((url) => new URL(url).hostname), ...otherHosts];
}

/** Whether a host is one of a vendor's, or below it. */
export function isVendorHost(vendor: Vendor, hostname: string): boolean {
  return hostsOf(vendor).some((host) => hostname === host || hostname.endsWith(`.${host}`));
}
