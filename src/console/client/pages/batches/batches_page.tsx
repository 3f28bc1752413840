import type { Page, PageProps } from "../../page.ts";
import { session } from "../../session_state.ts";
import { TEXTS } from "../../texts.ts";
import { BatchDetails } from "./batch_details.tsx";
import { BatchList } from "./batch_list.tsx";
import { ALL_BATCHES, OWN_BATCHES } from "./shown_batch.ts";

/** The batches, and a page for each. */
export const batchesPage: Page = {
  path: "batches",
  title: TEXTS.batches.title,
  icon: "batches",
  audience: "all",
  View: Batches,
};

function Batches({ rest }: PageProps) {
  const source = session.value?.kind === "operator" ? ALL_BATCHES : OWN_BATCHES;
  return rest === "" ? <BatchList source={source} /> : <BatchDetails id={rest} source={source} />;
}
