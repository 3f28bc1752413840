import { CONFIGURED_VENDORS } from "../../../vendors/upstreams/configured_vendors.ts";
import { listsModels } from "../../../vendors/upstreams/kinds.ts";
import { hasBuiltInModels, keyNameOf, type Vendor } from "../../../vendors/upstreams/vendor.ts";
import { kindNameOf, VENDORS } from "../../../vendors/upstreams/vendors.ts";

/** A vendor that `init` can configure. */
export interface InitVendor {
  /** The name of the provider. */
  readonly name: string;
  /** The value of `kind`. */
  readonly kind: string;
  /** Variables of the key, of which the first that is set counts; empty if no key is needed. */
  readonly keyNames: readonly string[];
  /** The variable of the key if none is set. */
  readonly keyName: string;
  /** The variable of the address, for vendors whose accounts have addresses of their own; else null. */
  readonly addressName: string | null;
  /** Whether the key is a file of a service account, in a project. */
  readonly hasProject: boolean;
  /**
   * Where its models come from: built in with their prices, from the vendor's list, or named one by one. All but the
   * first need a price.
   */
  readonly models: "built-in" | "listed" | "named";
}

const { vertex, bedrock } = CONFIGURED_VENDORS;

/** All vendors that `init` can configure. */
export const INIT_VENDORS: readonly InitVendor[] = [
  ...Object.entries(VENDORS).map(([name, vendor]) => initVendor(name, vendor)),
  { ...initVendor("vertex", vertex), hasProject: true },
  initVendor("bedrock", bedrock),
];

function initVendor(name: string, vendor: Vendor): InitVendor {
  const hasOwnAddress = vendor.baseUrl === null || vendor.regionalUrl !== undefined;
  const addressName = vendor.addressNames?.[0] ?? null;
  return {
    name,
    kind: kindNameOf(name, vendor),
    keyNames: vendor.keyNames,
    keyName: keyNameOf(name, vendor),
    addressName: hasOwnAddress ? addressName : null,
    hasProject: false,
    models: hasBuiltInModels(vendor) ? "built-in" : vendor.listsModels ?? listsModels(vendor.kind) ? "listed" : "named",
  };
}
