import { read } from "../../api.ts";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Loading } from "../../components/loading.tsx";
import type { Page, PageProps } from "../../page.ts";
import { usePolled } from "../../polled.ts";
import { session } from "../../session_state.ts";
import type { ListAnswer, ListedModel } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { ModelDetails } from "./model_details.tsx";
import { ModelList } from "./model_list.tsx";

const PAGE_SIZE = 100;
/** The most models that are shown. */
const MAX_MODELS = 5_000;

/** The catalog, and a page for each model. */
export const modelsPage: Page = {
  path: "models",
  title: TEXTS.models.title,
  icon: "models",
  audience: "all",
  View: Models,
};

function Models({ rest }: PageProps) {
  const { data, error } = usePolled("models", readModels);
  if (error !== null) return <ErrorNotice error={error} />;
  if (data === null) return <Loading />;
  if (rest === "") return <ModelList models={data} />;
  return <ModelDetails model={data.find(({ id }) => id === rest) ?? null} />;
}

/** Operators read the catalog with its providers, callers the part that they may use. */
async function readModels(signal: AbortSignal): Promise<readonly ListedModel[]> {
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
