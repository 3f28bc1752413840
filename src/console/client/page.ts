import type { FunctionComponent } from "preact";
import type { IconName } from "./components/icon.tsx";

/** What a page gets. */
export interface PageProps {
  /** What follows the page's own path in the address, such as the id of a request; empty for none. */
  readonly rest: string;
}

/** A page of the console. */
export interface Page {
  /** The first part of its address below `/console`. */
  readonly path: string;
  /** In the navigation and in the title of the window. */
  readonly title: string;
  readonly icon: IconName;
  /** Who sees it: operators, the owners of API keys, or both. */
  readonly audience: "operators" | "callers" | "all";
  readonly View: FunctionComponent<PageProps>;
}
