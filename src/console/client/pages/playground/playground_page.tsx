import { lazyView } from "../../components/lazy_view.tsx";
import type { Page, PageProps } from "../../page.ts";
import { TEXTS } from "../../texts.ts";

/** Sends requests to models. Its code is loaded when the page is opened. */
export const playgroundPage: Page = {
  path: "playground",
  title: TEXTS.playground.title,
  icon: "playground",
  audience: "all",
  View: lazyView<PageProps>(async () => (await import("./playground.tsx")).Playground),
};
