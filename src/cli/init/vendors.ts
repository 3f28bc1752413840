import { kindNameOf, VENDORS } from "../../upstreams/vendors.ts";

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

const KNOWN: readonly InitVendor[] = Object.entries(VENDORS).map(([name, vendor]) => ({
  name,
  kind: kindNameOf(name, vendor),
  keyNames: vendor.keyNames,
  keyName: vendor.keyNames[0] ?? variableOf(name),
  addressName: vendor.baseUrl === null ? `${name.toUpperCase()}_OPENAI_ENDPOINT` : null,
  hasProject: false,
  models: vendor.hasBuiltInModels ?? true ? "built-in" : vendor.listsModels ?? true ? "listed" : "named",
}));

const VERTEX: InitVendor = {
  name: "vertex",
  kind: "vertex",
  keyNames: ["GOOGLE_APPLICATION_CREDENTIALS"],
  keyName: "GOOGLE_APPLICATION_CREDENTIALS",
  addressName: null,
  hasProject: true,
  models: "named",
};

const BEDROCK: InitVendor = {
  name: "bedrock",
  kind: "bedrock",
  keyNames: ["AWS_BEARER_TOKEN_BEDROCK"],
  keyName: "AWS_BEARER_TOKEN_BEDROCK",
  addressName: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", // which contains the region
  hasProject: false,
  models: "named",
};

/** All vendors that `init` can configure. */
export const INIT_VENDORS: readonly InitVendor[] = [...KNOWN, VERTEX, BEDROCK];

function variableOf(name: string): string {
  return `${name.toUpperCase().replaceAll("-", "_")}_API_KEY`;
}
