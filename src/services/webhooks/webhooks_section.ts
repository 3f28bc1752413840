import { section, setting } from "../../platform/lib/settings/setting.ts";
import { seconds } from "../../platform/lib/settings/settings.ts";

/** The `webhooks` section: how webhooks are delivered. */
export const webhooksSchema = section({
  timeout: setting(seconds(0.01, 300), { default: 10, text: "Of one attempt", example: 30 }),
}).prefault({});
