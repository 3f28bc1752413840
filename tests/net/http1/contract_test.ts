import { httpClientContract } from "../../contract/http_client.ts";
import { ownClient } from "../../contract/own_client.ts";

httpClientContract("HttpClient", ownClient);
