import type { Quirk, Quirks } from "../../../conversation/contract/quirks.ts";
import { ALL_VENDORS, vendorOfKind } from "../configured_vendors.ts";
import type { ProviderKind } from "../kinds.ts";
import { isVendorHost, type QuirkChanges, type Vendor } from "../vendor.ts";

/**
 * The default quirks of compatible vendors of the default protocol: newer fields are not sent, and the common
 * extensions of these vendors are used.
 */
export const COMPATIBLE_QUIRKS: readonly Quirk[] = [
  "max_tokens_field",
  "no_developer_role",
  "needs_user_message",
  "no_text_parts",
  "no_refusal_field",
  "reasoning_in_history",
  "reasoning_object",
  "no_custom_tools",
  "no_allowed_tools",
  "long_tool_descriptions",
  "union_schemas",
  "three_efforts",
  "no_verbosity",
  "no_prompt_cache_key",
  "no_service_tier",
  "no_metadata",
  "user_field",
  "small_output_limits",
  "file_addresses",
  "video_parts",
  "any_audio_format",
  "no_web_search",
  "no_max_tool_calls",
];

/** The default quirks of compatible vendors of the messages format. */
export const COMPATIBLE_MESSAGES_QUIRKS: readonly Quirk[] = [
  "thinking_budgets",
  "temperature_with_top_p",
  "no_output_schemas",
  "no_thinking_display",
  "any_property_names",
  "no_threads",
  "no_system_turns",
  "no_web_search",
  "no_service_tier",
];

/**
 * Returns the quirks of a provider whose configuration sets none: those of its vendor, which is identified by its host
 * if several vendors have the format of the kind.
 *
 * @param kind The provider's kind in the configuration.
 */
export function defaultQuirks(kind: ProviderKind, { hostname }: URL): Quirks {
  if (kind === "anthropic") return new Set(hasMessages(hostname) ? COMPATIBLE_MESSAGES_QUIRKS : []);
  const ofKind = kind === "openai" ? undefined : vendorOfKind(kind).quirks;
  return new Set(changed(ofKind ?? compatibleVendorAt(hostname)?.quirks));
}

/** Whether a host has a compatible messages format. Other hosts are treated as relays to Anthropic. */
function hasMessages(hostname: string): boolean {
  return ALL_VENDORS.some(([, vendor]) => vendor.hasMessages && isVendorHost(vendor, hostname));
}

/** The kinds whose vendors have chat completions at their hosts, too, so that `kind: openai` reaches them. */
const WITH_CHAT: readonly ProviderKind[] = ["openai", "alibaba", "ark"];

function compatibleVendorAt(hostname: string): Vendor | undefined {
  return ALL_VENDORS.find(([, vendor]) => WITH_CHAT.includes(vendor.kind) && isVendorHost(vendor, hostname))?.[1];
}

function changed({ without = [], with: further = [] }: QuirkChanges = {}): readonly Quirk[] {
  const kept = without === "all" ? [] : COMPATIBLE_QUIRKS.filter((quirk) => !without.includes(quirk));
  return [...kept, ...further];
}
