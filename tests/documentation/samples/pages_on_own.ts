import { ADMIN_PAGE } from "./admin_page.ts";
import { OPERATING_PAGE } from "./operating_page.ts";
import type { OwnScenario } from "./own_stage.ts";
import { SMALL_PAGES } from "./small_pages.ts";
import { WEBHOOKS_PAGES } from "./webhooks_page.ts";

/** The pages whose samples need a gateway of their own. */
export const PAGES_ON_OWN: readonly OwnScenario[] = [...OPERATING_PAGE, ...SMALL_PAGES, ...WEBHOOKS_PAGES, ADMIN_PAGE];
