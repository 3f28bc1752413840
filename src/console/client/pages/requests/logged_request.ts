import { session } from "../../session_state.ts";
import type { PrintedRequest } from "../../../../observers/request_log/printed/request_line.ts";

/** A request of the log. Its owner does not see how it was routed. */
export type LoggedRequest =
  & Omit<PrintedRequest, "account" | "position" | "routes" | "attempts">
  & {
    readonly endpoint: string | null;
    /** Whether its bodies are kept; undefined in lists, and for its owner. */
    readonly has_bodies?: boolean;
    readonly routes?: PrintedRequest["routes"];
    readonly account?: string | null;
    readonly attempts: readonly (Omit<PrintedRequest["attempts"][number], "model"> & {
      readonly model?: string;
      /** Unix seconds. */
      readonly started_at: number;
    })[];
  };

/** The log that the session may read. */
export function requestsEndpoint(): string {
  return session.value?.kind === "caller" ? "/v1/requests" : "/admin/v1/requests";
}
