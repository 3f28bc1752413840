import { hasBuiltInModels, keyNameOf, type Vendor } from "../../../../vendors/upstreams/vendor.ts";
import { kindNameOf, presetOf, VENDORS } from "../../../../vendors/upstreams/vendors.ts";
import type { JsonFields } from "../configuration/merge_patch.ts";

/** The fields of the form of a provider, as they are typed. */
export interface ProviderFields {
  /** The name of a vendor; {@linkcode OTHER_VENDOR} for another one with OpenAI's format. */
  readonly vendor: string;
  /** Of the provider. */
  readonly name: string;
  readonly key: string;
  /** Of vendors with a pair of keys. */
  readonly secretKey: string;
  readonly address: string;
}

/** A vendor that is not in the list, with OpenAI's format. */
export const OTHER_VENDOR = "openai-compatible";

/** Where the models of a vendor come from: built in with prices, or added one by one. */
export type VendorGroup = "builtIn" | "named" | "own";

/** The names of vendors by where their models come from. */
export const VENDOR_GROUPS: Readonly<Record<VendorGroup, readonly string[]>> = {
  builtIn: namesOf("builtIn"),
  named: namesOf("named"),
  own: [...namesOf("own"), OTHER_VENDOR],
};

function namesOf(group: VendorGroup): string[] {
  return Object.entries(VENDORS).filter(([, vendor]) => groupOf(vendor) === group).map(([name]) => name);
}

function groupOf(vendor: Vendor): VendorGroup {
  return hasBuiltInModels(vendor) ? "builtIn" : vendor.keyNames.length === 0 ? "own" : "named";
}

/** What a form asks for a vendor. */
export interface VendorNeeds {
  /** The variable that clients of the vendor read the key from. */
  readonly keyName: string;
  readonly needsKey: boolean;
  /** The variable of the second key of a pair; null for vendors with one key. */
  readonly secretKeyName: string | null;
  readonly needsAddress: boolean;
  /** The documented base address; empty if every account has its own, or that of the kind is used. */
  readonly address: string;
}

/** What a form asks for a vendor. */
export function needsOf(name: string): VendorNeeds {
  const vendor = vendorOf(name);
  const address = presetOf(name)?.baseUrl ?? "";
  const [pairKey, secretKeyName = null] = vendor?.pairNames ?? [];
  return {
    keyName: pairKey ?? keyNameOf(name, vendor),
    needsKey: vendor !== null && vendor.keyNames.length > 0,
    secretKeyName,
    needsAddress: vendor === null || vendor.baseUrl === null,
    address,
  };
}

function vendorOf(name: string): Vendor | null {
  return Object.entries(VENDORS).find(([each]) => each === name)?.[1] ?? null;
}

/** The name of a vendor that no provider has yet: `openai`, then `openai-2`. */
export function freeName(vendor: string, taken: readonly string[]): string {
  const names = taken.map((_, place) => `${vendor}-${place + 2}`);
  return [vendor, ...names].find((name) => !taken.includes(name)) ?? vendor;
}

/** The provider as the store keeps it. Fields that are empty are left out. */
export function providerEntry(fields: ProviderFields): JsonFields {
  return entryWith(fields, { key: fields.key.trim(), secretKey: fields.secretKey.trim() });
}

/** The provider as in a file, with its keys from variables. */
export function providerInFile(fields: ProviderFields): JsonFields {
  const { keyName, needsKey, secretKeyName } = needsOf(fields.vendor);
  const secretKey = secretKeyName === null ? "" : `\${${secretKeyName}}`;
  return entryWith(fields, { key: needsKey || fields.key !== "" ? `\${${keyName}}` : "", secretKey });
}

function entryWith(
  { vendor, address }: ProviderFields,
  { key, secretKey }: { readonly key: string; readonly secretKey: string },
): JsonFields {
  const known = vendorOf(vendor);
  const baseUrl = address.trim();
  return {
    kind: known === null ? "openai" : kindNameOf(vendor, known),
    ...baseUrl !== "" && { base_url: baseUrl },
    ...key !== "" && { api_key: key },
    ...needsOf(vendor).secretKeyName !== null && secretKey !== "" && { secret_key: secretKey },
  };
}
