/** A vendor of the responses format that stores state and records its requests. */
export interface StatefulVendor {
  readonly baseUrl: string;
  /** Bodies of all requests, in order. */
  // deno-lint-ignore no-explicit-any -- a test looks wherever it likes
  readonly asked: any[];
  stop(): Promise<void>;
}

/**
 * Starts a vendor whose replies have ids that start with a mark: `resp_<mark>1`. A reply has a message, reasoning, a
 * call of the code interpreter in a container and a file that it wrote. It accepts every request.
 */
export function startStatefulVendor(mark: string): StatefulVendor {
  // deno-lint-ignore no-explicit-any
  const asked: any[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const body = await request.json();
    asked.push(body);
    const reply = replyOf(`${mark}${asked.length}`, body);
    if (!body.stream) return Response.json(reply);
    return new Response(framesOf(reply), { headers: { "content-type": "text/event-stream" } });
  });
  return { baseUrl: `http://127.0.0.1:${server.addr.port}/v1`, asked, stop: () => server.shutdown() };
}

const USAGE = {
  input_tokens: 5,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 3,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 8,
};

function replyOf(
  id: string,
  body: { readonly model: string; readonly store?: boolean; readonly conversation?: unknown },
) {
  const citation = { type: "container_file_citation", container_id: `cntr_${id}`, file_id: `cfile_${id}` };
  const cited = { type: "file_citation", file_id: "file-of-the-operator" };
  const text = { type: "output_text", text: "hello", annotations: [citation, cited], logprobs: [] };
  const output = [
    { type: "reasoning", id: `rs_${id}`, summary: [] },
    { type: "code_interpreter_call", id: `ci_${id}`, status: "completed", code: "1", container_id: `cntr_${id}` },
    { type: "message", id: `msg_${id}`, status: "completed", role: "assistant", content: [text] },
  ];
  return {
    id: `resp_${id}`,
    object: "response",
    created_at: 1,
    status: "completed",
    error: null,
    incomplete_details: null,
    model: body.model,
    conversation: body.conversation ? { id: body.conversation } : null,
    output,
    store: body.store ?? true,
    usage: USAGE,
  };
}

function framesOf(reply: ReturnType<typeof replyOf>): string {
  const began = { ...reply, status: "in_progress", output: [], usage: null };
  const events = [
    { type: "response.created", response: began },
    ...reply.output.flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item: { ...item, status: "in_progress" } },
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: "response.completed", response: reply },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}
