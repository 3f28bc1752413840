import { expiringModels, EXPIRY_NOTICE_MS } from "../../vendors/catalog/expiring.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import type { Pass } from "./pass.ts";

/** Sends `model.deprecated` once for a model and the date on which its vendor ends it, until that date. */
export async function checkModels(pass: Pass, models: readonly Model[]): Promise<void> {
  for (const { id, redirect, date, leftMs } of expiringModels(models, pass.now)) {
    if (leftMs <= 0) continue;
    await pass.announce({
      event: "model.deprecated",
      cause: [id, date],
      // After the date it is not sent any more.
      causeTtlMs: leftMs + EXPIRY_NOTICE_MS,
      account: null,
      data: { model: id, expiration_date: date, redirected_to: redirect?.to ?? null },
      logged: { model: id, reason: `Ends on ${date}` },
    });
  }
}
