import type { Page } from "./page.ts";
import { accountsPage } from "./pages/accounts/accounts_page.tsx";
import { auditPage } from "./pages/audit/audit_page.tsx";
import { batchesPage } from "./pages/batches/batches_page.tsx";
import { billsPage } from "./pages/bills/bills_page.tsx";
import { cachesPage } from "./pages/caches/caches_page.tsx";
import { configurationPage } from "./pages/configuration/configuration_page.tsx";
import { modelsPage } from "./pages/models/models_page.tsx";
import { overviewPage } from "./pages/overview/overview_page.tsx";
import { ownPage } from "./pages/own/own_page.tsx";
import { playgroundPage } from "./pages/playground/playground_page.tsx";
import { pricesPage } from "./pages/prices/prices_page.tsx";
import { providersPage } from "./pages/providers/providers_page.tsx";
import { requestsPage } from "./pages/requests/requests_page.tsx";
import { usagePage } from "./pages/usage/usage_page.tsx";
import { videosPage } from "./pages/videos/videos_page.tsx";
import { webhooksPage } from "./pages/webhooks/webhooks_page.tsx";
import type { SignedIn } from "./session_state.ts";

/** All pages, in the order of the navigation. A further page is a line here and a folder in `pages`. */
const PAGES: readonly Page[] = [
  overviewPage,
  ownPage,
  playgroundPage,
  requestsPage,
  videosPage,
  batchesPage,
  webhooksPage,
  cachesPage,
  usagePage,
  accountsPage,
  modelsPage,
  pricesPage,
  billsPage,
  providersPage,
  configurationPage,
  auditPage,
];

/** The pages that a person sees; the first one is the start. */
export function pagesFor({ kind }: Pick<SignedIn, "kind">): readonly Page[] {
  const own = kind === "operator" ? "operators" : "callers";
  return PAGES.filter(({ audience }) => audience === "all" || audience === own);
}
