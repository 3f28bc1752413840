import { assert } from "@std/assert";
import type { ModelUse } from "../../../src/vendors/prices/model_use.ts";
import { IMPORTED_VENDORS, kindOf } from "../../../src/entry/cli/import/vendors.ts";
import { loadKind } from "../../../src/vendors/upstreams/adapters.ts";
import type { UpstreamKind } from "../../../src/vendors/upstreams/contract/upstream.ts";
import { type VendorStage, withAnswers } from "../../support/vendor_stage.ts";

/** What the adapter of a kind serves. */
function usesOf(kind: UpstreamKind, { outbound, clock }: VendorStage): ReadonlySet<ModelUse> {
  const made = kind.capabilities({ outbound, clock, settings: { speaks: "chat" } });
  const served: Readonly<Record<ModelUse, boolean>> = {
    text: kind.text({ speaks: "chat" }).length > 0,
    image: made.images !== undefined,
    video: made.videos !== undefined,
    embedding: made.embeddings !== undefined,
    rerank: made.ranks !== undefined,
    moderation: made.moderations !== undefined,
    speech: made.speech !== undefined,
    transcription: made.transcripts !== undefined,
  };
  return new Set((Object.keys(served) as ModelUse[]).filter((use) => served[use]));
}

Deno.test("an import carries no model to a vendor whose adapter does not serve its use", () =>
  withAnswers([], async (stage) => {
    for (const [name, vendor] of IMPORTED_VENDORS) {
      const served = usesOf(await loadKind(kindOf(vendor)), stage);
      for (const use of vendor.uses) assert(served.has(use), `${name} does not serve ${use}`);
    }
  }));
