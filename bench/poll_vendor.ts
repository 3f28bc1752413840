/**
 * A video vendor for the polls benchmark: Ark's and xAI's interfaces, with jobs that never end. It prints its port.
 * `GET /counts` returns the number of requests for a single job and for a list of jobs.
 */
let jobs = 0;
let single = 0;
let lists = 0;

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(port),
}, (request) => {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === "/counts") return Response.json({ jobs, single, lists });
  if (request.method === "POST") {
    const id = `job-20261122-${String(jobs++).padStart(12, "0")}`;
    return Response.json({ id, request_id: id });
  }
  if (!searchParams.has("page_size")) {
    single++;
    return Response.json({
      id: pathname.split("/").at(-1),
      status: pathname.startsWith("/api") ? "running" : "pending",
    });
  }
  lists++;
  const items = searchParams.getAll("filter.task_ids").map((id) => ({ id, status: "running", created_at: 0 }));
  return Response.json({ items, total: items.length });
});
