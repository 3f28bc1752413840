import type { Model } from "../catalog/model.ts";
import type { Pass } from "./pass.ts";

/** How long before a vendor ends a model `model.deprecated` is sent. */
const NOTICE_MS = 30 * 86_400_000;

/** Sends `model.deprecated` once for a model and the date on which its vendor ends it. */
export async function checkModels(pass: Pass, models: readonly Model[]): Promise<void> {
  for (const { id, expirationDate, redirect } of models) {
    if (expirationDate === null) continue;
    const leftMs = Date.parse(expirationDate) - pass.now;
    if (leftMs <= 0 || leftMs > NOTICE_MS) continue;
    await pass.announce({
      event: "model.deprecated",
      cause: [id, expirationDate],
      // After the date it is not sent any more.
      causeTtlMs: leftMs + NOTICE_MS,
      account: null,
      data: { model: id, expiration_date: expirationDate, redirected_to: redirect?.to ?? null },
      logged: { model: id, reason: `Ends on ${expirationDate}` },
    });
  }
}
