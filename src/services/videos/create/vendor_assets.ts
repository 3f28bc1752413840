import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { allowanceOf, NO_ALLOWANCES } from "../../../vendors/upstreams/contract/allowances.ts";
import type { VideoModel } from "./order.ts";
import type { VideoRequest } from "../request/request.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/** References in a vendor's own store, and the only provider that can read them. */
export interface VendorAssets {
  /** Addresses such as `asset://logo`; empty if there are none. */
  readonly urls: ReadonlySet<string>;
  /** The provider that the task must use; null for any. */
  readonly pin: string | null;
}

/**
 * Finds references to assets of the operator's vendor account. A caller may use those that the provider's
 * `allow_references` lists, as `asset:asset://logo` or `asset:*`. The task then uses that provider.
 *
 * @param pin The provider that the caller requested; null for any.
 * @throws {GatewayError} `invalid_request` if one is not allowed or matches several providers.
 */
export function vendorAssetsOf(
  parts: Pick<VideoParts, "upstreams" | "allowancesOf">,
  request: VideoRequest,
  model: VideoModel,
  pin: string | null,
): VendorAssets {
  const able = model.serves.map(({ provider }) => provider).filter((name) => (pin ?? name) === name);
  const sent = [request.firstFrame, request.lastFrame, ...request.references];
  const assets = sent.flatMap((each) => {
    const { url } = each ?? {};
    const isAsset = typeof url === "string" && able.some((name) => holdsScheme(parts, name, url));
    return each !== null && isAsset ? [{ ...each, url }] : [];
  });
  const [first] = assets;
  if (first === undefined) return { urls: new Set(), pin };
  const homes = able.filter((name) => assets.every(({ url }) => isAllowed(parts, name, url)));
  const [home, ...otherHomes] = homes;
  if (home !== undefined && otherHomes.length === 0) return { urls: new Set(assets.map(({ url }) => url)), pin: home };
  const refused = assets.find(({ url }) => !able.some((name) => isAllowed(parts, name, url))) ?? first;
  throw invalidField(
    refused.path,
    homes.length > 1
      ? `several providers match; select one of ${homes.join(", ")} in "provider.type"`
      : "it is an asset of the operator's vendor account that the provider's allow_references does not include; " +
        "send the content instead, or ask the operator to allow the asset",
  );
}

function holdsScheme({ upstreams }: Pick<VideoParts, "upstreams">, provider: string, url: string): boolean {
  const scheme = /^[a-z][a-z0-9+._-]*:/i.exec(url)?.[0].toLowerCase();
  return scheme !== undefined && (upstreams.get(provider)?.accountSchemes ?? []).includes(scheme);
}

function isAllowed(parts: Pick<VideoParts, "upstreams" | "allowancesOf">, provider: string, url: string): boolean {
  return holdsScheme(parts, provider, url) &&
    allowanceOf(parts.allowancesOf?.(provider) ?? NO_ALLOWANCES, "asset", url) !== null;
}
