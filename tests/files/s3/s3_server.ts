/** The version of the S3 server. It checks signatures (Signature Version 4) and the rights of users. */
const MOTO = "moto[s3,server]==5.2.5";
const SETUP_ACTIONS = 4;

/** Prints the server's address and a user's credentials, then serves until its input ends. */
const PROGRAM = `
import json, logging, os, sys
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "${SETUP_ACTIONS}"
logging.getLogger("werkzeug").setLevel(logging.ERROR)
import boto3
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=int(sys.argv[1]), verbose=False)
server.start()
host, port = server.get_host_and_port()
address = f"http://127.0.0.1:{port}"
def client(service):
    return boto3.client(service, endpoint_url=address, region_name="us-east-1",
        aws_access_key_id="setup", aws_secret_access_key="setup")
iam = client("iam")
iam.create_user(UserName="gateway")
allow = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
iam.put_user_policy(UserName="gateway", PolicyName="files", PolicyDocument=json.dumps(allow))
key = iam.create_access_key(UserName="gateway")["AccessKey"]
client("s3").create_bucket(Bucket="results")
print(json.dumps({"address": address, "id": key["AccessKeyId"], "key": key["SecretAccessKey"]}), flush=True)
sys.stdin.read()
`;

/** A running S3 server with the bucket `results`. */
export interface S3Server {
  readonly address: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  stop(): Promise<void>;
}

/** Installs the server with pip; returns its Python. */
export async function installS3Server(folder: string): Promise<string> {
  await run("python3", ["-m", "venv", folder]);
  await run(`${folder}/bin/pip`, ["install", "--quiet", "--disable-pip-version-check", MOTO]);
  return `${folder}/bin/python`;
}

/** Starts a server with an empty bucket. */
export async function startS3Server(python: string): Promise<S3Server> {
  const child = new Deno.Command(python, {
    args: ["-c", PROGRAM, "0"],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error("the S3 server did not start");
    text += value;
  }
  const line = text.split("\n").find((each) => each.startsWith("{")) ?? "{}";
  const { address, id, key } = JSON.parse(line);
  return {
    address,
    accessKeyId: id,
    secretAccessKey: key,
    async stop() {
      child.kill("SIGKILL");
      await child.stdin.close().catch(() => {});
      await reader.cancel();
      await child.status;
    },
  };
}

async function run(program: string, args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args: [...args], stdout: "null" }).output();
  if (!success) throw new Error(`${program} failed: ${new TextDecoder().decode(stderr).slice(-500)}`);
}
