import { apiAddress } from "./api.ts";

/** The address of a copy below the console, whose policy allows no other host; null for an address of a vendor. */
export function ownAddress(url: string): string | null {
  const { pathname, searchParams } = new URL(url);
  return /^\/files\/[^/]+$/.test(pathname) && searchParams.has("signature")
    ? apiAddress(pathname, Object.fromEntries(searchParams))
    : null;
}
