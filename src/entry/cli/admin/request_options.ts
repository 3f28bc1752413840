import { OPERATOR_PARAMETERS, type RequestParameter } from "../../../observers/request_log/read_query.ts";

type WithHyphens<T extends string> = T extends `${infer Start}_${infer End}` ? `${Start}-${WithHyphens<End>}` : T;

/** The name of an option that selects requests. */
export type RequestOption = WithHyphens<Exclude<RequestParameter, "order" | "limit" | "after">>;

/** The options that select requests, with the parameters of the admin API. */
export const REQUEST_OPTIONS: ReadonlyMap<RequestOption, RequestParameter> = new Map(
  OPERATOR_PARAMETERS.flatMap((name): [RequestOption, RequestParameter][] =>
    name === "order" || name === "limit" || name === "after" ? [] : [[name.replaceAll("_", "-") as RequestOption, name]]
  ),
);
