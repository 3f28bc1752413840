import type * as z from "zod";
import { headerFields } from "../../platform/http/request/header_fields.ts";
import { section, setting } from "../../platform/lib/settings/setting.ts";
import { httpAddress, number, optional, text } from "../../platform/lib/settings/settings.ts";

/** The `tracing` section: where spans are exported, and which; null for none. */
export const tracingSchema = optional(section({
  endpoint: setting(httpAddress(), {
    text: "A collector's address for OTLP over HTTP",
    example: "http://collector:4318/v1/traces",
  }),
  headers: setting(headerFields(), {
    default: {},
    text: "Sent with every export",
    example: { authorization: "Bearer ${OTLP_TOKEN}" },
  }),
  ratio: setting(number(0, 1), {
    default: 1,
    text: "The share of the traces that begin here and are exported",
    example: 0.1,
    unit: "share",
  }),
  service_name: setting(text(1, 200), {
    default: "switchyard",
    text: "The attribute `service.name`",
    example: "gateway-eu",
  }),
}));

/** The `tracing` section as it was read. */
export type TracingConfig = NonNullable<z.output<typeof tracingSchema>>;
