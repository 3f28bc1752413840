import { UsageError } from "../usage_error.ts";
import { parseOptions } from "../command_options.ts";

/** Options that are given once for each vendor, as `VENDOR=VALUE`. */
export type VendorOption = "key" | "address" | "models" | "price";

/** The options of `init`, as written. */
export interface InitOptions
  extends
    Partial<Record<"vendors" | "admin" | "account" | "balance" | "port" | "project", string>>,
    Partial<Record<VendorOption, readonly string[]>> {}

/**
 * Reads the arguments of `init`.
 *
 * @throws {UsageError} For an unknown option.
 */
export function readInitOptions(
  args: readonly string[],
): InitOptions & { readonly noStart: boolean; readonly noTry: boolean } {
  const one = { type: "string" } as const;
  const each = { type: "string", multiple: true } as const;
  const { values } = parseOptions("init", args, {
    options: {
      vendors: one,
      key: each,
      address: each,
      models: each,
      price: each,
      project: one,
      admin: one,
      account: one,
      balance: one,
      port: one,
      "no-start": { type: "boolean" },
      "no-try": { type: "boolean" },
    },
  });
  const { "no-start": noStart = false, "no-try": noTry = false, ...rest } = values;
  return { noStart, noTry, ...rest };
}

/**
 * The values of an option by vendor.
 *
 * @param vendors The names of the vendors that are configured.
 * @throws {UsageError} For a value without a vendor, and for one of another vendor. The message has no value.
 */
export function byVendor(
  option: VendorOption,
  values: readonly string[] | undefined,
  vendors: readonly string[],
): ReadonlyMap<string, string> {
  return new Map((values ?? []).map((value) => {
    const at = value.indexOf("=");
    const vendor = value.slice(0, at);
    if (at > 0 && vendors.includes(vendor)) return [vendor, value.slice(at + 1)];
    throw new UsageError(
      `switchyard init: --${option}: expected VENDOR=… with one of the vendors ${vendors.join(", ")}`,
    );
  }));
}
