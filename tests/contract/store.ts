/** The contract of the store port: one suite for every engine. */
import { commitLaws } from "./store/commits.ts";
import { jobLaws } from "./store/jobs.ts";
import { lawsOf, type OpenStore } from "./store/law.ts";
import { limitLaws } from "./store/limits.ts";
import { moneyLaws } from "./store/money.ts";
import { scanLaws } from "./store/scan.ts";
import { takeLaws } from "./store/take.ts";
import { valueLaws } from "./store/values.ts";
import { versionLaws } from "./store/versions.ts";

export type { Opened, OpenStore } from "./store/law.ts";

/** Registers every contract test for an engine. */
export function storeContract(engine: string, open: OpenStore): void {
  const law = lawsOf(engine, open);
  valueLaws(law);
  scanLaws(law);
  commitLaws(law);
  versionLaws(law);
  limitLaws(law);
  moneyLaws(law);
  jobLaws(law);
  takeLaws(law);
}
