import { ErrorNotice } from "../../components/error_notice.tsx";
import { Loading } from "../../components/loading.tsx";
import { readModels } from "../../models.ts";
import type { Page, PageProps } from "../../page.ts";
import { usePolled } from "../../lists/polled.ts";
import { TEXTS } from "../../texts.ts";
import { shownForm } from "../forms/form_href.ts";
import { FormView } from "../forms/form_view.tsx";
import { ModelDetails } from "./model_details.tsx";
import { ModelList } from "./model_list.tsx";

/** The catalog, and a page for each model. */
export const modelsPage: Page = {
  path: "models",
  title: TEXTS.models.title,
  icon: "models",
  audience: "all",
  View: Models,
};

const MODEL_FORMS = ["model", "alias", "price"] as const;

function Models({ rest }: PageProps) {
  const form = MODEL_FORMS.find((each) => each === shownForm());
  return form === undefined ? <Catalog rest={rest} /> : <FormView key={form} form={form} subject={rest} />;
}

function Catalog({ rest }: PageProps) {
  const { data, error } = usePolled("models", readModels);
  if (error !== null) return <ErrorNotice error={error} />;
  if (data === null) return <Loading />;
  if (rest === "") return <ModelList models={data} />;
  return <ModelDetails model={data.find(({ id }) => id === rest) ?? null} />;
}
