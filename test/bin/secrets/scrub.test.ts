import { Writable } from "node:stream";
import { inspect } from "node:util";
import OpenAI from "openai";
import { Client } from "pg";
import { createPublicClient, http } from "viem";
import { describe, expect, test } from "vitest";
import { createLogger } from "../../../bin/process.ts";
import { knownSecrets } from "../../../bin/secrets/known-secrets.ts";
import { createScrub, scrubOutput } from "../../../bin/secrets/scrub.ts";
import { cpuMsOf } from "../../support/cpu-time.ts";

/** Nothing listens there. */
const NOBODY = "127.0.0.1:1";
const RAW_KEY = `0x${"5ec4e7".repeat(10)}5ec4`;

/** One of every kind of secret that a process is given. */
const env = {
  DATABASE_URL: `postgres://ahs:s3cret-p%40ss@${NOBODY}/ahs`,
  RPC_URL: `http://${NOBODY}/v2/aLcHeMyKeY_0123456789abcdef`,
  X402_FACILITATOR_URL: `http://operator:facilitator-pw@${NOBODY}/`,
  X402_FACILITATOR_TOKEN: "facilitator-token-0123",
  PANEL_BASE_URL: `http://${NOBODY}/v1?panel=panel-query-secret`,
  PANEL_API_KEY: "sk-panel-0123456789",
  PANEL_SECOND_BASE_URL: `http://${NOBODY}/v1?panel=second-query-secret`,
  PANEL_SECOND_API_KEY: "sk-second-0123456789",
  HISTORY_URL: `http://${NOBODY}/api?chainid=8453`,
  HISTORY_API_KEY: "EXPLORERKEY0123456789",
  LABELS_URL: `http://${NOBODY}/labels`,
  LABELS_API_KEY: "labels-key-0123456789",
  PUBLISHER_PRIVATE_KEY: RAW_KEY,
  RELAYER_SIGNER_URL: `http://signer:signer-password@${NOBODY}`,
  IPFS_GATEWAY_URL: `https://${NOBODY}/gateway-token-0123456789/`,
  RECEIPT_PREVIOUS_KEYS: `0x${"ab12".repeat(16)},0x${"cd34".repeat(16)}`,
};

/** No log line may contain one of these. */
const SECRETS = [
  "s3cret-p",
  "aLcHeMyKeY_0123456789abcdef",
  "facilitator-pw",
  "facilitator-token-0123",
  "panel-query-secret",
  "sk-panel-0123456789",
  "second-query-secret",
  "sk-second-0123456789",
  "EXPLORERKEY0123456789",
  "labels-key-0123456789",
  RAW_KEY.slice(2),
  Buffer.from(RAW_KEY.slice(2), "hex").toString("base64").slice(0, 43),
  Buffer.from(RAW_KEY.slice(2), "hex").toString("base64url"),
  "signer-password",
  Buffer.from("signer:signer-password").toString("base64"),
  "gateway-token-0123456789",
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

  test("of a key, in whichever form a library holds it", () => {
    const bytes = Buffer.from(RAW_KEY.slice(2), "hex");
    const forms = [
      RAW_KEY.slice(2),
      RAW_KEY.toUpperCase(),
      bytes.toString("base64"),
      bytes.toString("base64url"),
    ];
    const line = logged((logger) => logger.info({ forms }, `signer:signer-password ${forms.join(" ")}`));
    expect(JSON.parse(line).msg).toMatch(/^signer:\[Redacted\]( 0X)?( ?\[Redacted\]=?){4}$/);
    for (const secret of SECRETS) expect(line).not.toContain(secret);
  });

  test("and hashes, addresses, ids and paths stay readable", () => {
    const hash = `0x${"12".repeat(32)}`;
    const text = `transaction ${hash} for GET /v1/verdicts/3f0e5f0a-0000-4000-8000-000000000000?after=12 at http://127.0.0.1:8545/ with basic settings, https://ipfs.io/ipfs/bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi and http://127.0.0.1:4020/inputs/${hash}`;
    expect(logged((logger) => logger.info({ hash }, text))).toContain(`"hash":"${hash}","msg":"${text}"`);
  });
});

const SECRET = "Qx9-hunter2_Zk2";

describe("a value behind the name of a secret is taken out", () => {
  const objects = [
    { "x-api-key": SECRET },
    { claim: `0x${CALLERS.claim}` },
    { privateKey: SECRET, walletPassword: SECRET },
    { "set-cookie": [SECRET, `more=${SECRET}`] },
    { rawHeaders: ["X-API-Key", SECRET, "accept", "text/html"] },
    { authorization: [[SECRET]].flat(), nested: { list: [{ secret: `with "quotes" and \\ ${SECRET}` }] } },
  ];

  test.each(objects)("as JSON, however deep in JSON strings, and no line breaks by it: %j", (object) => {
    let text = JSON.stringify(object);
    for (let depth = 0; depth < 5; depth += 1) {
      const scrubbed = createScrub([])(text);
      expect(scrubbed).not.toMatch(/hunter2|f00df00d/);
      expect(() => JSON.parse(scrubbed)).not.toThrow();
      text = JSON.stringify({ msg: text, after: "kept" });
      expect(createScrub([])(text)).toContain('"after":"kept"');
    }
  });

  test.each(objects)("as Node shows it, also in a line of the log: %j", (object) => {
    const line = logged((logger) => logger.info(inspect(object, { depth: 9 })));
    expect(line).not.toMatch(/hunter2|f00df00d/);
    expect(JSON.parse(line)).toMatchObject({ name: "ahs-test", msg: expect.stringContaining("[Redacted]") });
  });

  test.each([
    [`authorization: basic ${Buffer.from(`me:${SECRET}`).toString("base64")}`],
    [`Basic%20${Buffer.from(`me:${SECRET}`).toString("base64")}`],
    [`cookie: first=1; session=${SECRET}`],
    [`https://host/?q=key%3Dahs%5F${SECRET.repeat(3)}`],
    [`https://host/?q=ahs_${SECRET.repeat(3)}`],
    [`postgres://ahs:${SECRET}@host/ahs`],
    [`https://name.base-mainnet.quiknode.pro/${"0a1b".repeat(10)}/`],
    [`https://rpc.example/base/${"0a1b".repeat(10)} refused`],
    [`https://node.example/v2/${SECRET.repeat(2)}`],
  ])("in a text: %s", (text) => {
    expect(createScrub([])(text)).not.toMatch(/hunter2|0a1b0a1b|aHVudGVy|bWU6/);
  });

  test("and a text that ends within it is no way past the string around it", () => {
    const cut = JSON.stringify({ "x-api-key": SECRET }).slice(0, -3);
    const line = JSON.stringify({ msg: `answered ${cut}`, after: "kept" });
    expect(createScrub([])(line)).toBe(
      JSON.stringify({ msg: 'answered {"x-api-key":"[Redacted]', after: "kept" }),
    );
  });
});

describe("a long line takes no longer for what a stranger puts into it", () => {
  const LENGTH = 65_536;
  const of = (text: string) => text.repeat(Math.ceil(LENGTH / text.length)).slice(0, LENGTH);
  const scrub = createScrub(knownSecrets(env));

  /** The shortest of three runs; each with a text of its own, since engines remember what they replaced. */
  function duration(text: string): number {
    const runs = ["a", "b", "c"].map((first) => {
      const own = Buffer.from(`${first}${text}`).toString();
      return cpuMsOf(() => scrub(own));
    });
    return Math.min(...runs);
  }

  const hostile = [
    of("a-"),
    of("a."),
    `"${of("\\")}`,
    `"claim":"${of("\\")}`,
    `claim: '${of("\\")}`,
    of('"claim":"'),
    of('\\"claim\\":\\"'),
    of("claim:'"),
    of(`claim${" ".repeat(39)}`),
    of("claim\\n"),
    `"x-api-key":[${of('"a",')}`,
    of("x-api-key "),
    of("cookie "),
    of("://"),
    of("://a/v1/"),
    `://${of("a")}`,
    `://${of("abcdefg/")}`,
    of("basic "),
    `basic ${of("a")}`,
    of("ahs_a."),
    of("whsec_"),
    of("ahs%5F"),
    of("?key="),
    of("0"),
  ];
  test.each(hostile.map((text) => [JSON.stringify(text.slice(0, 16)), text]))("%s…", (_beginning, text) => {
    // Linear work takes some ten times as long as a text without a mark; work by the square, ten thousand times.
    expect(duration(text)).toBeLessThan(200 * Math.max(duration(of("plain words ")), 0.2));
  });

  test("and one of a million characters is dropped whole", () => {
    expect(scrub(`"claim":"${"a\\n".repeat(1_000_000)}`)).toBe("[Redacted]\n");
  });
});

test("short and ordinary parts of settings are no secrets", () => {
  expect(
    knownSecrets({ DATABASE_URL: "postgres://ahs:ahs@127.0.0.1/ahs", RPC_URL: "http://127.0.0.1:8545/" }),
  ).toEqual([]);
  const scrub = createScrub(knownSecrets({ DATABASE_URL: "postgres://ahs:ahs@127.0.0.1/ahs" }));
  expect(scrub("ahs: postgres://ahs:ahs@127.0.0.1/ahs")).toBe("ahs: postgres://[Redacted]@127.0.0.1/ahs");
});

describe("output that a library writes by itself is scrubbed as well", () => {
  function scrubbed() {
    let written = "";
    const output = {
      write: (text: string, done?: () => void) => {
        written += text;
        done?.();
        return true;
      },
    } as unknown as NodeJS.WriteStream;
    const end = scrubOutput(createScrub(["hunter2hunter2"]), [output]);
    return { output, end, written: () => written };
  }

  test.each([
    ["a text", ["password hunter2hunter2\n"]],
    ["bytes", [Buffer.from("password hunter2hunter2\n")]],
    ["two pieces", ["password hunter2", "hunter2\n"]],
    ["pieces of both kinds", ["password hun", Buffer.from("ter2hunter2\n")]],
  ])("as %s", (_form, pieces) => {
    const { output, written } = scrubbed();
    for (const piece of pieces) output.write(piece);
    expect(written()).toBe("password [Redacted]\n");
  });

  test("text without a line end is written at the end, and letters of several bytes stay whole", () => {
    const { output, end, written } = scrubbed();
    const letter = Buffer.from("ü");
    output.write("first\nhunter2");
    output.write("hunter2 ");
    output.write(letter.subarray(0, 1));
    output.write(letter.subarray(1));
    expect(written()).toBe("first\n");
    end();
    expect(written()).toBe("first\n[Redacted] ü");
  });

  test("a writer is notified when its text is written, and text of another encoding is decoded", async () => {
    const { output, written } = scrubbed();
    await new Promise<void>((resolve) => output.write("a", () => resolve()));
    await new Promise<void>((resolve) => output.write("aGk=", "base64", () => resolve()));
    output.write("\n");
    expect(written()).toBe("ahi\n");
  });
});
