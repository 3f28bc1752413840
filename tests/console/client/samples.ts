import type { LoggedRequest } from "../../../src/console/client/pages/requests/logged_request.ts";
import type { Traffic, TrafficAnswer } from "../../../src/console/client/shapes.ts";

const TOTAL: Traffic = {
  from: 1_795_349_500,
  to: 1_795_349_700,
  requests: 100,
  errors: { not_found: 6, rate_limited: 4 },
  input_tokens: 1_000,
  output_tokens: 500,
  cost: "1.2500000000",
  first_byte_ms: { p50: 120, p95: 800, p99: 950 },
  duration_ms: { p50: 1_200, p95: 2_000, p99: 3_000 },
};

/** Two hundred seconds of traffic. */
export const TRAFFIC: TrafficAnswer = {
  data: [TOTAL],
  total: TOTAL,
  now: { open_streams: 3, memory: { in_use: 524_288, limit: 1e9 }, jobs: { poll: 2 } },
};

/** A request of 200 ms that the second provider served. */
export const LOGGED_REQUEST: LoggedRequest = {
  id: "req_1",
  received_at: 1_000,
  first_byte_ms: 150,
  duration_ms: 200,
  method: "POST",
  path: "/v1/chat/completions",
  endpoint: "/v1/chat/completions",
  kind: "text",
  account: "acme",
  key: "key_1",
  model: "fast",
  served_model: "openai/gpt-5-mini",
  provider: "azure",
  status: 200,
  error: null,
  refusal: null,
  reserved: null,
  end: "completed",
  dropped: [],
  usage: { input_tokens: 3, output_tokens: 5, is_estimated: false },
  images: 0,
  cost: "0.0000130000",
  charged: [{ price: "prompt", quantity: 3, rate: "0.000001" }],
  client_address: "192.0.2.7",
  attempts: [
    {
      provider: "openai",
      started_at: 1_000.02,
      duration_ms: 30,
      status: 503,
      vendor_request_id: null,
      code: "unavailable",
      message: "The engine is overloaded",
    },
    {
      provider: "azure",
      started_at: 1_000.05,
      duration_ms: 100,
      status: 200,
      vendor_request_id: null,
      code: null,
      message: null,
    },
  ],
};
