import { Writable } from "node:stream";
import OpenAI from "openai";
import { Client } from "pg";
import { createPublicClient, http } from "viem";
import { describe, expect, test } from "vitest";
import { createLogger } from "../../../bin/process.ts";
import { knownSecrets } from "../../../bin/secrets/known-secrets.ts";
import { createScrub } from "../../../bin/secrets/scrub.ts";
import { scrubOutput } from "../../../bin/secrets/scrub-output.ts";

/** Nothing listens there. */
const NOBODY = "127.0.0.1:1";
const RAW_KEY = `0x${"5ec4e7".repeat(10)}5ec4`;

/** One of every kind of secret that a process is given. */
const env = {
  DATABASE_URL: `postgres://ahs:s3cret-p%40ss@${NOBODY}/ahs`,
  RPC_URL: `http://${NOBODY}/v2/aLcHeMyKeY_0123456789abcdef`,
  X402_FACILITATOR_URL: `http://operator:facilitator-pw@${NOBODY}/`,
  PANEL_BASE_URL: `http://${NOBODY}/v1?panel=panel-query-secret`,
  PANEL_API_KEY: "sk-panel-0123456789",
  HISTORY_URL: `http://${NOBODY}/api?chainid=8453`,
  HISTORY_API_KEY: "EXPLORERKEY0123456789",
  LABELS_URL: `http://${NOBODY}/labels`,
  LABELS_API_KEY: "labels-key-0123456789",
  PUBLISHER_PRIVATE_KEY: RAW_KEY,
  RELAYER_SIGNER_URL: `http://signer:signer-password@${NOBODY}`,
  RECEIPT_PREVIOUS_KEYS: `0x${"ab12".repeat(16)},0x${"cd34".repeat(16)}`,
};

/** What no line may hold. */
const SECRETS = [
  "s3cret-p",
  "aLcHeMyKeY_0123456789abcdef",
  "facilitator-pw",
  "panel-query-secret",
  "sk-panel-0123456789",
  "EXPLORERKEY0123456789",
  "labels-key-0123456789",
  RAW_KEY.slice(2),
  "signer-password",
  "ab12".repeat(16),
  "cd34".repeat(16),
];

const CALLERS = {
  key: `ahs_${"Ab3-".repeat(11)}`,
  webhook: `whsec_${"Qx9/".repeat(8)}=`,
  manage: `amt_${"Zk2_".repeat(8)}`,
  payment: "eyJ4NDAyVmVyc2lvbiI6Mn0payment",
  signIn: "eyJkb21haW4iOiJzaWduLWluIn0",
  claim: "f00d".repeat(16),
  cookie: "session-0123456789",
};

/** The lines that a process at trace writes of it. */
function logged(write: (logger: ReturnType<typeof createLogger>) => void): string {
  let lines = "";
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines += String(chunk);
      done();
    },
  });
  write(createLogger({ logLevel: "trace", secrets: knownSecrets(env) }, "test", sink));
  return lines;
}

async function failureOf(call: PromiseLike<unknown>): Promise<unknown> {
  return call.then(
    () => expect.unreachable("nothing answers"),
    (error: unknown) => error,
  );
}

describe("no log holds a secret", () => {
  test.each([
    ["viem", () => createPublicClient({ transport: http(env.RPC_URL, { retryCount: 0 }) }).getBlockNumber()],
    ["pg", () => new Client({ connectionString: env.DATABASE_URL }).connect()],
    [
      "pg with a faulty URL",
      async () => new Client({ connectionString: `${env.DATABASE_URL}?port=x y` }).connect(),
    ],
    [
      "openai",
      () =>
        new OpenAI({ baseURL: env.PANEL_BASE_URL, apiKey: env.PANEL_API_KEY, maxRetries: 0 }).models.list(),
    ],
    ["fetch", () => fetch(`${env.HISTORY_URL}&apikey=${env.HISTORY_API_KEY}`)],
    ["fetch with a password", async () => fetch(env.X402_FACILITATOR_URL)],
    ["URL", async () => new URL(`${env.RPC_URL.replace("http", "ht tp")}`)],
  ])("of a failure of %s, wherever its error keeps it", async (_library, call) => {
    const error = await failureOf(call());
    const line = logged((logger) => {
      logger.error({ err: error }, "failed");
      logger.trace({ raw: error, all: env }, String(error));
      logger.warn({ err: new Error("wrapped", { cause: error }) }, `failed: ${String(error)}`);
    });
    for (const secret of SECRETS) expect(line).not.toContain(secret);
    expect(line).toContain("failed");
  });

  test("of a request, in headers, bodies and texts", () => {
    const headers = {
      "x-api-key": CALLERS.key,
      "X-Api-Key": "a key of another form 1234",
      Authorization: `Bearer ${CALLERS.signIn}`,
      cookie: CALLERS.cookie,
      "payment-signature": CALLERS.payment,
      "SIGN-IN-WITH-X": CALLERS.signIn,
      "x-payment-claim": CALLERS.claim,
    };
    const line = logged((logger) => {
      logger.trace(
        { req: { headers }, answer: { claim: CALLERS.claim, secret: CALLERS.webhook } },
        "request",
      );
      logger.trace({ body: JSON.stringify({ headers, token: CALLERS.manage }) }, `X-API-Key: ${CALLERS.key}`);
      logger.info(
        `webhook ${CALLERS.webhook} at https://user:${CALLERS.cookie}@hook.example/?token=${CALLERS.signIn}`,
      );
    });
    for (const secret of [...Object.values(CALLERS), "a key of another form 1234"])
      expect(line).not.toContain(secret);
    for (const text of line.trim().split("\n")) expect(JSON.parse(text)).toMatchObject({ name: "ahs-test" });
  });

  test("and hashes, addresses, ids and paths stay readable", () => {
    const hash = `0x${"12".repeat(32)}`;
    const text = `transaction ${hash} for GET /v1/verdicts/3f0e5f0a-0000-4000-8000-000000000000?after=12 at http://127.0.0.1:8545/`;
    expect(logged((logger) => logger.info({ hash }, text))).toContain(`"hash":"${hash}","msg":"${text}"`);
  });
});

test("short and ordinary parts of settings are no secrets", () => {
  expect(
    knownSecrets({ DATABASE_URL: "postgres://ahs:ahs@127.0.0.1/ahs", RPC_URL: "http://127.0.0.1:8545/" }),
  ).toEqual([]);
  const scrub = createScrub(knownSecrets({ DATABASE_URL: "postgres://ahs:ahs@127.0.0.1/ahs" }));
  expect(scrub("ahs: postgres://ahs:ahs@127.0.0.1/ahs")).toBe("ahs: postgres://[Redacted]@127.0.0.1/ahs");
});

test("what a library writes to the output by itself is scrubbed as well", () => {
  const written: unknown[] = [];
  const output = { write: (chunk: unknown) => written.push(chunk) > 0 };
  scrubOutput(createScrub(["hunter2hunter2"]), [output as unknown as NodeJS.WriteStream]);
  output.write("password hunter2hunter2\n");
  output.write(Buffer.from("x"));
  expect(written).toEqual(["password [Redacted]\n", Buffer.from("x")]);
});
