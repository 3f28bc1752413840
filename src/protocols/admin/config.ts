import { CONFIG_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import { type Handler, type Inbound, pathParam } from "../../platform/http/request/inbound.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { ReadJson } from "./accounts.ts";
import { operatorOf } from "./admin_access.ts";
import { answerJson } from "./shared/answer.ts";
import { type AdminRoute, adminRoute } from "./shared/admin_route.ts";

/** An entry of the configuration: `providers` and `acme`, `limits` and `text_body`. */
export interface ConfigEntry {
  readonly section: string;
  readonly name: string;
}

/** The result of a change: its difference, or all problems of the configuration, which was then not changed. */
export type ConfigAnswer =
  | { readonly ok: true; readonly body: JsonObject }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Options of a change. */
export interface ConfigChangeOptions {
  /** The name of the admin key that makes the change. */
  readonly by: string;
  /** Whether only the difference is returned. */
  readonly isDryRun: boolean;
}

/** The operations on the configuration of a running gateway. */
export interface ConfigAdmin {
  /** What is in force, without secrets. */
  show(): JsonObject;
  /** Reads the file again. */
  reload(options: ConfigChangeOptions): Promise<ConfigAnswer>;
  /** Replaces all settings in the store. */
  replaceAll(sections: JsonObject, options: ConfigChangeOptions): Promise<ConfigAnswer>;
  /** Sets an entry in the store. */
  put(entry: ConfigEntry, value: JsonObject, options: ConfigChangeOptions): Promise<ConfigAnswer>;
  /** Changes fields of an entry (RFC 7396). */
  patch(entry: ConfigEntry, fields: JsonObject, options: ConfigChangeOptions): Promise<ConfigAnswer>;
  /** Removes an entry from the store. */
  remove(entry: ConfigEntry, options: ConfigChangeOptions): Promise<ConfigAnswer>;
  /** Lists the versions of the settings in the store, newest first. */
  versions(page: { readonly limit: number; readonly before?: number }): Promise<JsonObject>;
  /** Puts the settings of an earlier version in force, as a new version. */
  restore(version: number, options: ConfigChangeOptions): Promise<ConfigAnswer>;
}

/** The dependencies of the configuration endpoints. */
export interface AdminConfigOptions {
  readonly admin: ConfigAdmin;
  readonly readJson: ReadJson;
}

/** The configuration endpoints. Source: docs/api/admin.md#configuration. */
export function adminConfigRoutes({ admin, readJson }: AdminConfigOptions): AdminRoute[] {
  return [
    ...adminShownConfigRoutes(() => admin.show()),
    adminRoute(
      CONFIG_ENDPOINTS.replaceConfig,
      async (inbound) => answer(await admin.replaceAll(await readJson(inbound), optionsOf(inbound))),
    ),
    adminRoute(CONFIG_ENDPOINTS.reloadConfig, reloadHandler(admin)),
    adminRoute(CONFIG_ENDPOINTS.listConfigVersions, versionsHandler(admin)),
    adminRoute(CONFIG_ENDPOINTS.restoreConfigVersion, restoreHandler(admin)),
    adminRoute(CONFIG_ENDPOINTS.setConfigEntry, async (inbound) => {
      return answer(await admin.put(entryOf(inbound), await readJson(inbound), optionsOf(inbound)));
    }),
    adminRoute(CONFIG_ENDPOINTS.changeConfigEntry, async (inbound) => {
      return answer(await admin.patch(entryOf(inbound), await readJson(inbound), optionsOf(inbound)));
    }),
    adminRoute(CONFIG_ENDPOINTS.deleteConfigEntry, async (inbound) => {
      return answer(await admin.remove(entryOf(inbound), optionsOf(inbound)));
    }),
  ];
}

/** `GET /admin/v1/config`, which a gateway has also if its configuration does not change. */
export function adminShownConfigRoutes(show: ConfigAdmin["show"]): AdminRoute[] {
  return [adminRoute(CONFIG_ENDPOINTS.readConfig, () => answerJson(show()))];
}

function reloadHandler(admin: ConfigAdmin): Handler {
  return async (inbound) => {
    await inbound.request.body?.cancel();
    return answer(await admin.reload(optionsOf(inbound)));
  };
}

function restoreHandler(admin: ConfigAdmin): Handler {
  return async (inbound) => {
    await inbound.request.body?.cancel();
    return answer(await admin.restore(versionIn(pathParam(inbound.params, "version"), "version"), optionsOf(inbound)));
  };
}

const MAX_PAGE_SIZE = 100;

function versionsHandler(admin: ConfigAdmin): Handler {
  return async ({ query }) => {
    const parameters = new URLSearchParams(query);
    const limit = versionIn(parameters.get("limit") ?? "20", "limit");
    if (limit > MAX_PAGE_SIZE) throw invalidField("limit", `expected a whole number from 1 to ${MAX_PAGE_SIZE}`);
    const after = parameters.get("after");
    return answerJson(await admin.versions({ limit, ...after === null ? {} : { before: versionIn(after, "after") } }));
  };
}

function versionIn(text: string, field: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw invalidField(field, "expected a whole number from 1");
  return Number(text);
}

function entryOf(inbound: Inbound): ConfigEntry {
  return { section: pathParam(inbound.params, "section"), name: pathParam(inbound.params, "name") };
}

function optionsOf(inbound: Inbound): ConfigChangeOptions {
  return { by: operatorOf(inbound), isDryRun: new URLSearchParams(inbound.query).get("dry_run") === "true" };
}

function answer(result: ConfigAnswer): Response {
  if (result.ok) return answerJson(result.body);
  const { problems } = result;
  const message = `The configuration was not changed: ${problems.join("; ")}`;
  return answerJson({ error: { code: "invalid_request", message, problems } }, 400);
}
