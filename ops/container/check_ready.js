// The health check of the container: succeeds while the gateway accepts paid requests.
const response = await fetch(`http://127.0.0.1:${Deno.env.get("PORT")}/readyz`);
Deno.exit(response.ok ? 0 : 1);
