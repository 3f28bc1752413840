import { parseArgs } from "node:util";
import { Buffer } from "node:buffer";
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import { loadConfig } from "../config/load_config.ts";
import { serviceSignature, standardSignature } from "../webhooks/signature.ts";
import { findGateway, isNamed } from "./find_gateway.ts";
import { gatewayFetch } from "./gateway_fetch.ts";
import { gatewayAddress } from "./gateway_address.ts";
import { print } from "./print.ts";
import { UsageError } from "./usage_error.ts";

/** Where events are looked for, and what is done with each. */
export interface ListenOptions {
  /** The gateway's address, without a final slash. */
  readonly gateway: string;
  readonly adminKey: string;
  /** The account's webhook secret; null leaves signatures unchecked, and says so. */
  readonly secret: string | null;
  /** Where each event is posted as its receiver would get it; null only prints. */
  readonly forward: string | null;
  readonly print: (line: string) => void;
  /** Ends the listening. */
  readonly signal: AbortSignal;
  /** Default 1 s. */
  readonly pollMs?: number;
}

const POLL_MS = 1_000;
/** How far back each look goes, as events may become visible a little out of their order. */
const OVERLAP_SECONDS = 30;
const PAGE = 100;

/**
 * `webhooks listen [--config FILE] [--gateway URL] [--forward URL]`: prints the events of a running gateway as they come, asked of
 * its admin API, so that no public address is needed. The gateway goes on calling the callback addresses themselves; this
 * only looks on.
 */
export async function listenCommand(args: readonly string[]): Promise<number> {
  const [verb, ...rest] = args;
  if (verb !== "listen") throw new UsageError(`switchyard webhooks: there is no "${verb ?? ""}"`);
  const values = optionsIn(rest);
  const config = loadConfig({ path: values.config, env: (name) => Deno.env.get(name) });
  const running = await findGateway(config, { gateway: values.gateway, isNamed: isNamed(values.config) });
  const adminKey = running === null ? config.server.adminKey : running.adminKey;
  if (!adminKey) throw new UsageError("switchyard webhooks listen: expected server.admin_key, or SWITCHYARD_ADMIN_KEY");
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => stop.abort());
  await listenForWebhooks({
    gateway: running?.address ?? gatewayAddress(config, values.gateway),
    adminKey,
    secret: Deno.env.get("SWITCHYARD_WEBHOOK_SECRET") ?? null,
    forward: values.forward ?? null,
    print,
    signal: stop.signal,
  });
  return 0;
}

/** Prints, checks and forwards events from now on, until the signal. Resolves when it is over. */
export async function listenForWebhooks(options: ListenOptions): Promise<void> {
  const { gateway, print, signal } = options;
  print(`Listening for webhooks of ${gateway}`);
  if (options.secret === null) print("Signatures are not checked: set SWITCHYARD_WEBHOOK_SECRET to check them");
  const seen = new Set<string>();
  let newest = Math.floor(Date.now() / 1_000);
  let isFirst = true;
  while (!signal.aborted) {
    try {
      for (const delivery of await deliveriesSince(options, newest - OVERLAP_SECONDS)) {
        if (seen.has(delivery.task)) continue;
        seen.add(delivery.task);
        newest = Math.max(newest, delivery.created_at);
        if (!isFirst) await show(options, delivery); // the first look only learns what was there before
      }
      isFirst = false;
    } catch (error) {
      if (!signal.aborted) print(`! ${(error as Error).message}`);
    }
    await pause(options.pollMs ?? POLL_MS, signal);
  }
}

/** The fields of a delivery that are shown. */
interface ListedDelivery {
  readonly task: string;
  readonly account: string;
  readonly event: string;
  readonly url: string;
  readonly created_at: number;
}

interface EventRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

async function deliveriesSince(options: ListenOptions, from: number): Promise<ListedDelivery[]> {
  const all: ListedDelivery[] = [];
  let after = "";
  for (;;) {
    const path = `/admin/v1/deliveries?order=asc&limit=${PAGE}&from=${from}${after}`;
    const { data, next } = await ask<{ data: ListedDelivery[]; next: string | null }>(options, path);
    all.push(...data);
    if (next === null) return all;
    after = `&after=${encodeURIComponent(next)}`;
  }
}

async function ask<T>({ gateway, adminKey, signal }: ListenOptions, path: string): Promise<T> {
  const response = await gatewayFetch(gateway + path, { headers: { authorization: `Bearer ${adminKey}` }, signal });
  if (response.ok) return await response.json() as T;
  await response.body?.cancel();
  throw new Error(`The admin API answered ${response.status}`);
}

async function show(options: ListenOptions, { task, account, event, url, created_at }: ListedDelivery): Promise<void> {
  const request = await ask<EventRequest>(options, `/admin/v1/deliveries/${task}/request`);
  const { secret, forward, print } = options;
  print(`\n${new Date(created_at * 1_000).toISOString()} ${event} of ${account}, for ${url}`);
  for (const name of ["x-service-idempotency-key", "x-service-signature", "webhook-timestamp", "webhook-signature"]) {
    print(`  ${name}: ${request.headers[name]}`);
  }
  if (secret !== null) {
    print(isSignedBy(secret, request) ? "  both signatures are right" : "  ! a signature is WRONG by this secret");
  }
  print(JSON.stringify(JSON.parse(request.body), null, 2).replace(/^/gm, "  "));
  if (forward !== null) print(`  ${await forwarded(forward, request, options.signal)}`);
}

/** Whether both signatures of a request are by this secret. */
function isSignedBy(secret: string, { headers, body }: EventRequest): boolean {
  const bytes = new TextEncoder().encode(body);
  const message = { id: headers["webhook-id"], timestamp: Number(headers["webhook-timestamp"]), body: bytes };
  const standard = headers["webhook-signature"].split(" ");
  return isSame(headers["x-service-signature"], serviceSignature(bytes, secret)) &&
    standard.some((each) => isSame(each, standardSignature(message, secret)));
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

async function forwarded(url: string, { headers, body }: EventRequest, signal: AbortSignal): Promise<string> {
  try {
    const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
    await response.body?.cancel();
    return `forwarded to ${url}: ${response.status}`;
  } catch (error) {
    return `! not forwarded to ${url}: ${(error as Error).message}`;
  }
}

function optionsIn(args: readonly string[]) {
  try {
    const option = { type: "string" } as const;
    return parseArgs({ args: [...args], options: { config: option, gateway: option, forward: option } }).values;
  } catch (error) {
    throw new UsageError(`switchyard: ${(error as Error).message}`);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const end = () => resolve();
  signal.addEventListener("abort", end);
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  });
}
