import type { TracedVendor } from "../../../observers/tracing/request_spans.ts";
import { originOf } from "../../../platform/net/http1/wire_request.ts";
import type { ProviderConfig } from "../../../vendors/upstreams/settings/provider_config.ts";
import { vendorBaseUrl, vendorOfKind } from "../../../vendors/upstreams/configured_vendors.ts";

const known = new WeakMap<ProviderConfig, TracedVendor>();

/**
 * Returns what spans say about a provider. Its vendor has the name of the conventions if the provider uses the vendor's
 * own address, otherwise its configured name.
 *
 * @param config Undefined if the provider is not configured any more.
 */
export function tracedVendor(provider: string, config: ProviderConfig | undefined): TracedVendor {
  if (config === undefined) return { name: provider, address: null, port: null };
  let vendor = known.get(config);
  if (vendor === undefined) {
    const { hostname: address, port } = originOf(new URL(config.baseUrl));
    const isOwn = address === new URL(vendorBaseUrl(config.kind)).hostname;
    vendor = { name: isOwn ? vendorOfKind(config.kind).tracedName ?? provider : provider, address, port };
    known.set(config, vendor);
  }
  return vendor;
}
