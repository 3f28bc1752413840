import * as z from "zod";
import { section, setting } from "../../platform/lib/settings/setting.ts";
import { boolean } from "../../platform/lib/settings/settings.ts";

/** The `billing` section: how durable charges are, and how videos are held and charged. */
export const billingSchema = section({
  preauthorize: setting(boolean(), {
    default: true,
    text: "Whether a video's estimate is held before it is accepted",
  }),
  unknown_creates: setting(z.enum(["release", "capture"]), {
    default: "release",
    text: "What happens to the hold of a video that the vendor never confirmed",
  }),
  durability: setting(z.enum(["process", "power"]).nullable().default(null), {
    text: "What a [charge](#durability-of-charges) survives: the end of the process, or a power failure",
    otherwise: "`power` with PostgreSQL, else `process`",
  }),
}).prefault({});

/** The `billing` section as it was read. */
export type WrittenBilling = z.output<typeof billingSchema>;

/** The same with a durability in any case. */
export type BillingConfig = WrittenBilling & { readonly durability: NonNullable<WrittenBilling["durability"]> };
