import { useEffect, useState } from "preact/hooks";
import type { ApiError } from "./api.ts";
import { EmptyState } from "./components/empty_state.tsx";
import { Loading } from "./components/loading.tsx";
import { PageHead } from "./components/page_head.tsx";
import { path } from "./navigation.ts";
import { pagesFor } from "./pages.ts";
import { openSession } from "./session.ts";
import { session } from "./session_state.ts";
import { Shell } from "./shell.tsx";
import { SignIn } from "./sign_in.tsx";
import { TEXTS } from "./texts.ts";

/** The console: the sign-in page, or the page of the address. */
export function App() {
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    openSession().catch(setError);
  }, []);
  const signedIn = session.value;
  if (signedIn === undefined) return <Loading />;
  if (signedIn === null) return <SignIn problem={error} />;
  const pages = pagesFor(signedIn);
  const [first = "", ...rest] = path.value.split("/");
  const page = pages.find((each) => each.path === first) ?? (first === "" ? pages[0] : undefined);
  return (
    <Shell pages={pages} page={page ?? null} signedIn={signedIn}>
      {page === undefined
        ? <NoSuchPage />
        : <page.View key={page.path} rest={rest.map(decodeURIComponent).join("/")} />}
    </Shell>
  );
}

function NoSuchPage() {
  return (
    <>
      <PageHead title={TEXTS.app.noSuchPageTitle} />
      <EmptyState title={TEXTS.app.noSuchPage}>{TEXTS.app.chooseAPage}</EmptyState>
    </>
  );
}
