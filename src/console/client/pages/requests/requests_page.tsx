import type { Page, PageProps } from "../../page.ts";
import { TEXTS } from "../../texts.ts";
import { RequestDetails } from "./request_details.tsx";
import { RequestList } from "./request_list.tsx";

/** The log of requests, and a page for each request. */
export const requestsPage: Page = {
  path: "requests",
  title: TEXTS.requests.title,
  icon: "requests",
  audience: "all",
  View: ({ rest }: PageProps) => rest === "" ? <RequestList /> : <RequestDetails id={rest} />,
};
