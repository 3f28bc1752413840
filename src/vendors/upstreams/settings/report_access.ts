import type { ProviderKind } from "../kinds.ts";
import { isVendorHost } from "../vendor.ts";
import { type PresetName, VENDORS } from "../vendors.ts";

/** The formats of vendors' reports about cost and usage. */
export type ReportFormat = "openai" | "anthropic" | "openrouter";

/** The access to a vendor's reports. */
export interface ReportAccess {
  readonly format: ReportFormat;
  /** The admin key. It is a secret. */
  readonly key: string;
}

/**
 * The format of a vendor's reports; null if it has none that can be read.
 *
 * @param name The value of `kind` in the configuration: a kind or a preset.
 */
export function reportFormatOf(name: ProviderKind | PresetName, baseUrl: string): ReportFormat | null {
  if (name === "anthropic" || name === "openrouter") return name;
  if (name !== "openai") return null;
  return isVendorHost(VENDORS.openrouter, new URL(baseUrl).hostname) ? "openrouter" : "openai";
}
