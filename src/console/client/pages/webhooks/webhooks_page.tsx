import type { Page, PageProps } from "../../page.ts";
import { TEXTS } from "../../texts.ts";
import { DeliveryDetails } from "./delivery_details.tsx";
import { DeliveryList } from "./delivery_list.tsx";

/** The deliveries of webhooks, and a page for each. */
export const webhooksPage: Page = {
  path: "webhooks",
  title: TEXTS.webhooks.title,
  icon: "webhooks",
  audience: "operators",
  View: ({ rest }: PageProps) => rest === "" ? <DeliveryList /> : <DeliveryDetails task={rest} />,
};
