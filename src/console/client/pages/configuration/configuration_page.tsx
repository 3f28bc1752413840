import { ErrorNotice } from "../../components/error_notice.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import type { Page, PageProps } from "../../page.ts";
import { TEXTS } from "../../texts.ts";
import { ConfigList } from "./config_list.tsx";
import { ConfigEntryDetails } from "./config_entry_details.tsx";
import { useConfig } from "./use_config.ts";

/** The configuration in force, its history, and a page for each setting. */
export const configurationPage: Page = {
  path: "configuration",
  title: TEXTS.configuration.title,
  icon: "configuration",
  audience: "operators",
  View: Configuration,
};

function Configuration({ rest }: PageProps) {
  const { data, error, reload } = useConfig();
  if (data !== null) {
    const [section = "", ...name] = rest.split("/");
    return rest === ""
      ? <ConfigList config={data} onChanged={reload} />
      : <ConfigEntryDetails key={rest} config={data} section={section} name={name.join("/")} onChanged={reload} />;
  }
  return (
    <>
      <PageHead title={TEXTS.configuration.title} />
      {error === null && <Loading />}
      {error !== null && <ErrorNotice error={error} />}
    </>
  );
}
