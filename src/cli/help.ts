import { VERSION } from "./version.ts";

/** The output of `switchyard help`. */
export const HELP = `switchyard ${VERSION}: a gateway in front of many model vendors

  switchyard init [--vendors LIST] [--account ID] [--balance USD] [--port N] [--no-start]
                                         ask for vendors and their keys, write switchyard.yaml and .env, and start
  switchyard serve [--config FILE]       start the gateway
    [--show-secrets]                     print the webhook secrets of accounts that it creates
    [--standby]                          with PostgreSQL: wait until the gateway that uses the database has ended
  switchyard dev                         start the gateway with simulated vendors; no keys needed
  switchyard config check [FILE]         check a configuration and print its problems
  switchyard config apply FILE           put a file in force without a restart: the gateway's own file, or settings
                                         for the store; print what changed
  switchyard config diff FILE            print what "apply" would change
  switchyard config show | reload        show the configuration in force; read the gateway's file again
  switchyard config versions [--limit N] [--after NEXT] | restore VERSION
                                         the settings in the store
  switchyard store migrate [--config FILE]
                                         add to the tables in PostgreSQL what this version needs
  switchyard store copy kv:PATH [postgres://…] [--config FILE]
                                         copy the store of a stopped gateway into an empty PostgreSQL database
  switchyard backup FILE [--files] [--config FILE]
                                         write the store, its journal of charges and the log of requests to one file,
                                         while a gateway runs or not; --files adds the files
  switchyard restore FILE [--replace] [--config FILE]
                                         put a backup in place; --replace moves what is there aside
  switchyard import litellm|bifrost|openrouter-models FILE [--output FILE] [--env-file FILE]
                                         write switchyard.yaml from another gateway's configuration, or from
                                         OpenRouter's list of models, and say what could not be carried
  switchyard models import FILE [--providers LIST] [--output FILE]
                                         write models with prices from a price map in LiteLLM's format
  switchyard doctor [--offline] [--json] check the configuration, the machine, the store and the providers, and say
                                         what to do

  switchyard accounts create ID [--balance USD] [--overdraft USD] [LIMITS]
  switchyard accounts set ID [--name NAME] [--overdraft USD] [LIMITS]
                                         change settings; "none" removes one
  switchyard accounts list | show ID | suspend ID | resume ID
  switchyard accounts erase ID --yes     remove what identifies a customer: names, prompts, videos, logs; money stays
  switchyard accounts credit ID USD [--reference TEXT]
  switchyard accounts adjust ID USD --reason TEXT [--reference TEXT] [--allow-negative]
                                         add to a balance, or subtract: -4.20
  switchyard accounts allow-buckets ID [BUCKET…]
                                         replace the list of buckets that requests of the account may name
  switchyard keys create ACCOUNT [--name NAME] [--expires DATE] [--metadata JSON] [LIMITS]
                                         create an API key and show it once
  switchyard keys set ACCOUNT KEY …      change its settings; "none" removes one
  switchyard keys list ACCOUNT | show ACCOUNT KEY | revoke ACCOUNT KEY
  switchyard keys rotate ACCOUNT KEY [--overlap SECONDS]
                                         replace a key by one with the same settings, at once or after a time
    LIMITS: --models "openai/*,ID" --endpoints LIST --providers LIST --ip-allow LIST --rpm N --tpm N --concurrency N
            --budget 20/day|week|month|total --capture none|errors|all
  switchyard admin-keys create NAME --role read|write|owner
                                         create a key of the admin API and show it once
  switchyard admin-keys list | revoke ID
  switchyard audit list [--actor NAME] [--account ID] [--from SECONDS] [--to SECONDS] [--limit N] [--after NEXT]
                                         show who changed what, newest first
  switchyard webhook-secrets rotate ACCOUNT
                                         create a webhook secret and show it once; the old one stays valid for a day
  switchyard caches list [--account ID] [--limit N] [--after NEXT] | delete ID
                                         show cached contents of callers, newest first, or delete one
  switchyard ledger list ACCOUNT [--order desc] [--limit N] [--after NEXT]
  switchyard ledger verify               check balances and usage against their entries; the gateway must not run
    [--accept-incomplete]                go on with a copy of a store that lacks its last charges

  switchyard usage [--group-by account,key,model,provider,kind,day] [--from DAY] [--to DAY] [--account ID] [--key ID]
    [--model ID] [--provider NAME] [--kind KIND] [--format table|json|csv]
                                         sums of requests, tokens and cost; DAY is UTC, such as 2026-11-21

  switchyard tasks list [--account ID] [--status STATUS] [--model ID] [--from SECONDS] [--to SECONDS]
    [--order asc] [--limit N] [--after NEXT]
  switchyard tasks show ID
  switchyard tasks cancel ID             cancel a pending task, as its caller could
  switchyard tasks results ID            show the addresses of a task's results
  switchyard tasks mirror ID             copy the results of a finished task again
  switchyard deliveries list [--state STATE] [--from SECONDS] [--to SECONDS] [--order asc] [--limit N] [--after NEXT]
  switchyard deliveries show TASK        show the webhook of a task with every attempt
  switchyard deliveries request TASK     show the request that the receiver would get now
  switchyard deliveries redeliver TASK   start a new series of attempts now
  switchyard deliveries redeliver --from SECONDS --to SECONDS [--state exhausted|delivered] [--after NEXT]
  switchyard providers list              show circuit breakers and counts of a running gateway
  switchyard providers test NAME [--credential NAME]
                                         call the vendor, and say what is wrong; also without a running gateway
  switchyard signing-keys rotate         create a key for result addresses; the previous one stays valid

  switchyard requests list [--account ID] [--key ID] [--model NAME] [--provider NAME] [--status 404|5xx|error]
    [--code CODE] [--from 1h] [--to SECONDS] [--q TEXT] [--order asc] [--limit N] [--after NEXT] [--json]
  switchyard requests show ID            show a request with every attempt
  switchyard requests bodies ID          show the captured bodies of a request; needs the role owner
  switchyard requests tail               print the requests of a running gateway as they end; takes the same filters
  switchyard explain ID                  describe in sentences what happened to a request, and its price

  switchyard webhooks listen             print and check new webhooks of a running gateway
    [--forward URL] [--account ID]       and forward them to an application under development
  switchyard webhooks trigger EVENT      create a test event, such as video.generation.completed,
    [--url URL] [--account ID]           for an address, or for "webhooks listen"

  switchyard version | help

The commands below "config" also take --config FILE. They call the admin API of a running gateway (server.admin_key):
the gateway on the configured store or at the configured address, the gateway of "dev" in this folder, or --gateway URL.
When no gateway runs, they open its store. Only "accounts create" creates a missing store.`;
