import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Loading } from "../../components/loading.tsx";
import type { Page, PageProps } from "../../page.ts";
import { TEXTS } from "../../texts.ts";

/** Sends requests to models. Its code is loaded when the page is opened. */
export const playgroundPage: Page = {
  path: "playground",
  title: TEXTS.playground.title,
  icon: "playground",
  audience: "all",
  View: LazyPlayground,
};

function LazyPlayground({ rest }: PageProps) {
  const [View, setView] = useState<FunctionComponent<PageProps> | null>(null);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    import("./playground.tsx").then(({ Playground }) => setView(() => Playground), () => setFailed(true));
  }, []);
  if (hasFailed) return <ErrorNotice message={TEXTS.playground.notLoaded} />;
  return View === null ? <Loading /> : <View rest={rest} />;
}
