import type { Config } from "../../../config/config.ts";
import type { TracingConfig } from "../../../observers/tracing/tracing_section.ts";
import type { RequestObserver } from "../../../platform/http/request/request_record.ts";
import { createHttpClient } from "../../../platform/net/http1/client.ts";
import { headerLinesOf } from "../../../platform/net/http1/header_lines.ts";
import { attributesOf } from "../../../observers/tracing/otlp.ts";
import { SpanExporter } from "../../../observers/tracing/span_exporter.ts";
import { Tracing } from "../../../observers/tracing/tracing.ts";
import type { Services } from "./services.ts";
import { tracedVendor } from "./traced_vendor.ts";

/** {@linkcode Tracing} with what the configuration says about providers. */
export class GatewayTracing extends Tracing {
  /**
   * Returns the observer that exports the spans of each request.
   *
   * @param providersOf Returns the configured providers that are in force.
   */
  observerOf(providersOf: () => Config["providers"]): RequestObserver {
    const vendorOf = (provider: string) => tracedVendor(provider, providersOf()[provider]);
    return (record) => this.observe(record, vendorOf);
  }
}

/** Starts to trace. Nothing is sent before the first span. The operator may use any address as a collector. */
export function openTracing(
  { endpoint, headers, ratio, serviceName }: TracingConfig,
  { clock, log, random, egress, config: { proxies } }: Pick<Services, "clock" | "log" | "random" | "egress" | "config">,
): GatewayTracing {
  const exporter = new SpanExporter({
    endpoint: new URL(endpoint),
    headerLines: headerLinesOf({ "content-type": "application/json", "user-agent": "switchyard", ...headers }),
    resource: attributesOf({ "service.name": serviceName, "service.instance.id": crypto.randomUUID() }),
    client: createHttpClient({ clock, caCerts: egress.caCertificates, proxies }),
    clock,
    log,
    random,
  });
  return new GatewayTracing({ ratio, exporter, clock });
}
