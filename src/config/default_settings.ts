import type { RateTerms } from "../limits/request_rate.ts";
import type { Config } from "./config.ts";

const DAY_MS = 86_400_000;

/**
 * All settings but those of named entries, by section, as an operator would write them. Times are in seconds, sizes in
 * bytes. Used to show the values of settings that no one set, so secrets are null.
 */
export function defaultSettings(config: Config): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const { server, store, files, prices, limits, retention, billing, webhooks, notifications, egress, logs } = config;
  const { catalog, requestLog, tracing, bucket } = config;
  return {
    server: {
      host: server.host,
      port: server.port,
      base_url: server.baseUrl,
      docs_url: server.docsUrl,
      peer_url: server.peerUrl,
      vendor_callbacks: server.vendorCallbacks,
      trusted_proxies: server.trustedProxies,
      admin_key: null,
      admin_keys: [],
      admin_listen: server.adminListen,
      isolates: server.isolates,
      shutdown_grace: seconds(server.shutdownGraceMs),
      stall_limit: seconds(server.stallLimitMs),
    },
    store: { "": store },
    catalog: { "": catalog },
    files: { "": files },
    files_folder: { "": files },
    files_serve: { "": bucket?.serve ?? "proxy" },
    files_credentials: { access_key_id: null, secret_access_key: null, session_token: null },
    prices: {
      source: prices.source,
      every: seconds(prices.everyMs),
      max_change: prices.maxChange,
      keep: seconds(prices.keepMs),
    },
    limits: {
      memory: limits.memoryBytes,
      min_free_disk: limits.minFreeDiskBytes,
      files_quota: limits.filesQuotaBytes,
      account_concurrency: limits.accountConcurrency,
      cached_contents: limits.cachedContents,
      idempotency: {
        enabled: limits.idempotency.isEnabled,
        reply: limits.idempotency.replyBytes,
        account: limits.idempotency.accountBytes,
        keys: limits.idempotency.accountKeys,
        lease: seconds(limits.idempotency.leaseMs),
      },
      resume: {
        enabled: limits.resume.isEnabled,
        stream: limits.resume.streamBytes,
        account: limits.resume.accountBytes,
        streams: limits.resume.accountStreams,
        keep: seconds(limits.resume.keepMs),
      },
      video_polling: rate(limits.videoPolling),
      reads: rate(limits.reads),
      dry_runs: rate(limits.dryRuns),
      video_event_streams: limits.videoEventStreams,
      vendor_polling: {
        first: seconds(limits.vendorPolling.firstMs),
        least: seconds(limits.vendorPolling.minMs),
        most: seconds(limits.vendorPolling.maxMs),
        per_second: limits.vendorPolling.perSecond,
      },
      text_body: limits.textBodyBytes,
      large_body: limits.largeBodyBytes,
      image_body: limits.imageBodyBytes,
      edit_body: limits.editBodyBytes,
      edit_file: limits.editFileBytes,
      video_body: limits.videoBodyBytes,
      input_body: limits.inputBodyBytes,
      audio_body: limits.audioBodyBytes,
      other_body: limits.otherBodyBytes,
      body_idle: seconds(limits.bodyIdleMs),
      video_deadline: seconds(limits.videoDeadlineMs),
      video_doubt: seconds(limits.videoDoubtMs),
      signed_url: seconds(limits.signedUrlMs),
    },
    retention: {
      tasks: seconds(retention.tasksMs),
      deliveries: seconds(retention.deliveriesMs),
      files: seconds(retention.filesMs),
      cached_contents: seconds(retention.cachedContentsMs),
      audit: seconds(retention.auditMs),
    },
    billing: {
      preauthorize: billing.preauthorize,
      unknown_creates: billing.unknownCreates,
      durability: billing.durability,
    },
    webhooks: { timeout: seconds(webhooks.timeoutMs) },
    notifications: {
      url: notifications.url,
      secret: null,
      balance_low: notifications.balanceLow.map(({ text }) => text),
    },
    egress: { allow: egress.allow, ca_file: egress.caFile },
    logs: { level: logs.level },
    request_log: {
      enabled: requestLog.isEnabled,
      path: requestLog.path,
      days: requestLog.retentionMs / DAY_MS,
      max_bytes: requestLog.maxBytes,
      capture: null,
    },
    tracing: {
      endpoint: null,
      headers: {},
      ratio: tracing?.ratio ?? 1,
      service_name: tracing?.serviceName ?? "switchyard",
    },
    console: { "": config.console },
  };
}

function rate({ requests, perMs, burst }: RateTerms) {
  return { requests, per: seconds(perMs), burst };
}

function seconds(ms: number): number;
function seconds(ms: number | null): number | null;
function seconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1000;
}
