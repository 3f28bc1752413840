import { computed, signal } from "@preact/signals";

const ROOT = "/console";

const address = signal(currentAddress());

/** The path below the console, without slashes at its ends: `requests/req_1`. */
export const path = computed(() => address.value.path);

/** The parameters of the address. */
export const query = computed(() => new URLSearchParams(address.value.query));

/** The address of a page: `hrefOf("requests/req_1")`. */
export function hrefOf(page: string, parameters: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== "")).toString();
  return `${ROOT}/${page}${text === "" ? "" : `?${text}`}`;
}

/** Shows the page of an address. */
export function navigate(href: string): void {
  history.pushState(null, "", href);
  address.value = currentAddress();
  scrollTo(0, 0);
}

/** Changes the parameters of the address, so that the browser's Back leads to the earlier ones. Empty are removed. */
export function setQuery(changes: Readonly<Record<string, string>>): void {
  const next = addressWith(changes);
  if (next !== location.pathname + location.search) history.pushState(null, "", next);
  address.value = currentAddress();
}

/** As {@linkcode setQuery} for what is typed, which makes no entry in the browser's history for each letter. */
export function setTypedQuery(changes: Readonly<Record<string, string>>): void {
  history.replaceState(history.state, "", addressWith(changes));
  address.value = currentAddress();
}

/** How many pages of a list this entry of the browser's history showed; 1 if it is not known. */
export function shownPages(list: string): number {
  const kept: unknown = typeof history === "undefined" ? null : history.state;
  const isKept = typeof kept === "object" && kept !== null && "list" in kept && "pages" in kept && kept.list === list;
  return isKept ? Number(kept.pages) : 1;
}

/** Keeps how many pages of a list are shown, for {@linkcode shownPages} after Back and Forward. */
export function keepShownPages(list: string, pages: number): void {
  history.replaceState({ list, pages }, "");
}

function addressWith(changes: Readonly<Record<string, string>>): string {
  return hrefOf(path.value, { ...Object.fromEntries(query.value), ...changes });
}

/** Follows links within the console without loading the page again, and the browser's own buttons. */
export function followLinks(): void {
  addEventListener("popstate", () => address.value = currentAddress());
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link.target !== "" || link.hasAttribute("download")) return;
    const isOwn = link.origin === location.origin &&
      (link.pathname === ROOT || link.pathname.startsWith(`${ROOT}/`)) && !link.pathname.startsWith(`${ROOT}/api/`);
    if (!isOwn || link.hash !== "") return;
    event.preventDefault();
    navigate(link.href);
  });
}

function currentAddress(): { readonly path: string; readonly query: string } {
  // Components are also rendered where there is no page.
  if (typeof location === "undefined") return { path: "", query: "" };
  const { pathname, search } = location;
  return { path: pathname.slice(ROOT.length).replace(/^\/+|\/+$/g, ""), query: search };
}
