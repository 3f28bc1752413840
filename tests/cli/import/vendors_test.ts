import { assert } from "@std/assert";
import type { ModelUse } from "../../../src/prices/model_use.ts";
import { kindOf, VENDOR_NAMES, vendorNamed } from "../../../src/cli/import/vendors.ts";
import { loadKind } from "../../../src/upstreams/kinds.ts";
import type { UpstreamKind } from "../../../src/upstreams/upstream.ts";
import { type VendorStage, withAnswers } from "../../support/vendor_stage.ts";

/** What the adapter of a kind serves. */
function usesOf(kind: UpstreamKind, { outbound, clock }: VendorStage): ReadonlySet<ModelUse> {
  const lazy = typeof kind.lazy === "function" ? kind.lazy({ speaks: "chat" }) : kind.lazy ?? {};
  const served: Readonly<Record<ModelUse, boolean>> = {
    text: kind.text({ speaks: "chat" }).length > 0,
    image: kind.images(outbound, clock) !== null,
    video: kind.videos(outbound, { speaks: "chat" }) !== null,
    embedding: lazy.embeddings !== undefined,
    rerank: lazy.ranks !== undefined,
    moderation: lazy.moderations !== undefined,
    speech: lazy.speech !== undefined,
    transcription: lazy.transcripts !== undefined,
  };
  return new Set((Object.keys(served) as ModelUse[]).filter((use) => served[use]));
}

Deno.test("an import carries no model to a vendor whose adapter does not serve its use", () =>
  withAnswers([], async (stage) => {
    for (const name of VENDOR_NAMES) {
      const vendor = vendorNamed(name);
      assert(vendor !== null);
      const served = usesOf(await loadKind(kindOf(vendor)), stage);
      for (const use of vendor.uses) assert(served.has(use), `${name} does not serve ${use}`);
    }
  }));
