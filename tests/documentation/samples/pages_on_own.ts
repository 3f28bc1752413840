import { OPERATING_PAGE, type OwnScenario } from "./operating_page.ts";

/** The pages whose samples need a gateway of their own. */
export const PAGES_ON_OWN: readonly OwnScenario[] = [...OPERATING_PAGE];
