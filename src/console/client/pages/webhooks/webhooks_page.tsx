import type { Page, PageProps } from "../../page.ts";
import { TEXTS } from "../../texts.ts";
import { DeliveryDetails } from "./delivery_details.tsx";
import { DeliveryList } from "./delivery_list.tsx";
import { LiveReceiver } from "./live_receiver.tsx";

/** The deliveries of webhooks, and a page for each. */
export const webhooksPage: Page = {
  path: "webhooks",
  title: TEXTS.webhooks.title,
  icon: "webhooks",
  audience: "operators",
  View: Webhooks,
};

function Webhooks({ rest }: PageProps) {
  const [first = "", id = ""] = rest.split("/");
  if (first === "") return <DeliveryList />;
  return first === "receiver" ? <LiveReceiver key={id} id={id} /> : <DeliveryDetails task={rest} />;
}
