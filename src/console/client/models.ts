import { read } from "./api.ts";
import { session } from "./session_state.ts";
import type { ListAnswer, ListedModel } from "./shapes.ts";

const PAGE_SIZE = 100;
/** The most models that are read. */
const MAX_MODELS = 5_000;

/** Operators read the catalog with its providers, callers the part that they may use. */
export async function readModels(signal: AbortSignal): Promise<readonly ListedModel[]> {
  if (session.value?.kind !== "operator") {
    return (await read<Pick<ListAnswer<ListedModel>, "data">>("/v1/models", {}, signal)).data;
  }
  const models: ListedModel[] = [];
  for (let after: string | null = "0"; after !== null && models.length < MAX_MODELS;) {
    const query: Record<string, string | number> = { limit: PAGE_SIZE, after };
    const page: ListAnswer<ListedModel> = await read<ListAnswer<ListedModel>>("/admin/v1/models", query, signal);
    models.push(...page.data);
    after = page.next;
  }
  return models;
}
