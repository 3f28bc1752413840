import { ADMIN_PAGE } from "./admin_page.ts";
import { OPERATING_PAGE } from "./operating_page.ts";
import type { OwnScenario } from "./own_stage.ts";

/** The pages whose samples need a gateway of their own. */
export const PAGES_ON_OWN: readonly OwnScenario[] = [...OPERATING_PAGE, ADMIN_PAGE];
