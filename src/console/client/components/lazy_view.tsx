import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { TEXTS } from "../texts.ts";
import { ErrorNotice } from "./error_notice.tsx";
import { Loading } from "./loading.tsx";

/**
 * Makes a component of one whose code is loaded when it is first shown.
 *
 * @param load Loads it, by a dynamic import.
 */
export function lazyView<P extends object>(load: () => Promise<FunctionComponent<P>>): FunctionComponent<P> {
  return function LazyView(props: P) {
    const [View, setView] = useState<FunctionComponent<P> | null>(null);
    const [hasFailed, setFailed] = useState(false);
    useEffect(() => {
      load().then((loaded) => setView(() => loaded), () => setFailed(true));
    }, []);
    if (hasFailed) return <ErrorNotice message={TEXTS.app.notLoaded} />;
    return View === null ? <Loading /> : <View {...props} />;
  };
}
