import { afterEach, describe, expect, it } from "vitest";
import { unavailable } from "../../../../service/access/problems.ts";
import { hashSpec } from "../../../../service/verification/panel/hashes.ts";
import { useDatabase } from "../../../support/test-database.ts";
import { CLIENT, clearIntake, ESCROW, intakeWorld, PROVIDER } from "./intake-world.ts";

const db = useDatabase();
afterEach(() => clearIntake(db));

const MINIMAL = { client_addr: CLIENT, spec_text: "Count to 3." };
const JOB = { erc8183_job_id: "0x0Fe", escrow: ESCROW };
const SPEC_ID = "5b1c6a0e-4a1f-4f0e-9b57-0d7a3a1de2c4";
const OUTPUT = { spec_id: SPEC_ID, output_text: "1", submitter_addr: CLIENT, provider_addr: PROVIDER };
const INTEGER_FAULTS = {
  int_parsing: "Input should be a valid integer, unable to parse string as an integer",
  int_from_float: "Input should be a valid integer, got a number with a fractional part",
  int_type: "Input should be a valid integer",
};
const LONG = "x".repeat(200_001);

async function detailOf(path: string, body: unknown): Promise<unknown> {
  const world = intakeWorld(db);
  const response = await world.post(path, body);
  return { status: response.status, ...((await response.json()) as object) };
}

async function specRow(changes: object = {}, options: Parameters<typeof intakeWorld>[1] = {}) {
  const world = intakeWorld(db, options);
  const response = await world.post("/v1/specs", { ...MINIMAL, ...changes });
  const answer = (await response.json()) as { spec_id: string; spec_hash: string };
  const { rows } = await db.$client.query("select * from ahs.job_spec where id = $1", [answer.spec_id]);
  return { status: response.status, answer, row: rows[0] };
}

/** Words taken apart by characters without a form; a single one of them may well be pasted. */
const APART = [..."Count to 3."].join("\u200b");

const notInteger = (type: keyof typeof INTEGER_FAULTS, input: unknown) => ({
  type,
  loc: ["body", "chain_id"],
  msg: INTEGER_FAULTS[type],
  input,
});
const notUuid = (input: unknown) => ({
  type: "uuid_type",
  loc: ["body", "spec_id"],
  msg: "UUID input should be a string, bytes or UUID object",
  input,
});
const missing = (name: string, input: unknown) => ({
  type: "missing",
  loc: ["body", name],
  msg: "Field required",
  input,
});
const short = (name: string) => ({
  type: "string_too_short",
  loc: ["body", name],
  msg: "String should have at least 1 character",
  input: "",
  ctx: { min_length: 1 },
});
const long = (name: string) => ({
  type: "string_too_long",
  loc: ["body", name],
  msg: "String should have at most 200000 characters",
  input: LONG.slice(0, 256),
  ctx: { max_length: 200_000 },
});
const notString = (name: string, input: unknown) => ({
  type: "string_type",
  loc: ["body", name],
  msg: "Input should be a valid string",
  input,
});
const value = (name: string, input: unknown, error: unknown) => ({
  type: "value_error",
  loc: ["body", name],
  input,
  ctx: { error },
});
const literal = (name: string, expected: string, input: unknown) => ({
  type: "literal_error",
  loc: ["body", name],
  msg: `Input should be ${expected}`,
  input,
  ctx: { expected },
});
const ADDRESS = "^0x[0-9a-fA-F]{40}$";
const pattern = (name: string, input: unknown, expected = ADDRESS) => ({
  type: "string_pattern_mismatch",
  loc: ["body", name],
  msg: `String should match pattern '${expected}'`,
  input,
  ctx: { pattern: expected },
});

describe("422 bodies of POST /v1/specs", () => {
  it.each<[string, unknown, unknown[]]>([
    ["an empty object", {}, [missing("client_addr", {}), missing("spec_text", {})]],
    ["an empty text", { ...MINIMAL, spec_text: "" }, [short("spec_text")]],
    ["a text that is too long", { ...MINIMAL, spec_text: LONG }, [long("spec_text")]],
    ["criteria that are too long", { ...MINIMAL, acceptance_criteria: LONG }, [long("acceptance_criteria")]],
    ...[1, true, null, []].map((given): [string, unknown, unknown[]] => [
      `${JSON.stringify(given)} as client_addr`,
      { ...MINIMAL, client_addr: given },
      [notString("client_addr", given)],
    ]),
    ["a null domain", { ...MINIMAL, domain: null }, [notString("domain", null)]],
    ["a bad address", { ...MINIMAL, client_addr: "0x12" }, [pattern("client_addr", "0x12")]],
    [
      "a bad checksum",
      { ...MINIMAL, provider_addr: PROVIDER.replace("C", "c") },
      [value("provider_addr", PROVIDER.replace("C", "c"), expect.stringContaining("EIP-55"))],
    ],
    [
      "a job id that is no number",
      { ...MINIMAL, erc8183_job_id: "7" },
      [pattern("erc8183_job_id", "7", "^0x[0-9a-fA-F]{1,64}$")],
    ],
    [
      "a job id beyond 256 bits",
      { ...MINIMAL, erc8183_job_id: `0x${"1".repeat(65)}` },
      [expect.objectContaining({ type: "string_pattern_mismatch" })],
    ],
    [
      "a body that is a list",
      [1],
      [
        {
          type: "model_attributes_type",
          loc: ["body"],
          msg: "Input should be a valid dictionary or object to extract fields from",
          input: [1],
        },
      ],
    ],
    [
      "a body that is a string",
      '"x"',
      [expect.objectContaining({ type: "model_attributes_type", loc: ["body"], input: "x" })],
    ],
    ["no body", "", [{ type: "missing", loc: ["body"], msg: "Field required", input: null }]],
    ["null", "null", [{ type: "missing", loc: ["body"], msg: "Field required", input: null }]],
    [
      "broken JSON",
      '{"client_addr": ',
      [
        {
          type: "json_invalid",
          loc: ["body", 16],
          msg: "JSON decode error",
          input: {},
          ctx: { error: "Expecting value" },
        },
      ],
    ],
    [
      "half of a surrogate pair",
      '{"client_addr":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","spec_text":"a\\ud800b"}',
      [value("spec_text", "a\ud800b", expect.stringContaining("surrogate"))],
    ],
    [
      "the character U+0000",
      { ...MINIMAL, spec_text: "a\0b", domain: "\0" },
      [
        value("spec_text", "a\0b", expect.stringContaining("U+0000")),
        value("domain", "\0", expect.stringContaining("U+0000")),
      ],
    ],
    [
      "characters that nobody sees",
      { ...MINIMAL, spec_text: APART, acceptance_criteria: "1. three\n2. \u{e0041}\u{e0042}" },
      [
        value("spec_text", APART, expect.stringContaining("U+200B after 1 characters")),
        value(
          "acceptance_criteria",
          expect.anything(),
          expect.stringContaining("U+E0041 after 12 characters"),
        ),
      ],
    ],
    [
      "another chain",
      { ...MINIMAL, ...JOB, chain_id: 8453 },
      [value("chain_id", 8453, "jobs are settled on the chain 31337 alone")],
    ],
    [
      "an escrow that nothing is settled for",
      { ...MINIMAL, ...JOB, escrow: CLIENT },
      [value("escrow", CLIENT.toLowerCase(), expect.stringContaining(ESCROW))],
    ],
    [
      "an escrow and a signature without a job",
      { ...MINIMAL, escrow: ESCROW, client_signature: "0x12" },
      [
        value("escrow", ESCROW.toLowerCase(), expect.stringContaining("erc8183_job_id")),
        value("client_signature", "0x12", expect.stringContaining("erc8183_job_id")),
      ],
    ],
    [
      "a foreign escrow without a job, told once",
      { ...MINIMAL, escrow: CLIENT },
      [value("escrow", CLIENT.toLowerCase(), expect.stringContaining(ESCROW))],
    ],
    ["a word for a number", { ...MINIMAL, ...JOB, chain_id: "x" }, [notInteger("int_parsing", "x")]],
    ["half a number", { ...MINIMAL, ...JOB, chain_id: 1.5 }, [notInteger("int_from_float", 1.5)]],
    ["a list for a number", { ...MINIMAL, ...JOB, chain_id: [] }, [notInteger("int_type", [])]],
    [
      "a signature that is not hexadecimal",
      { ...MINIMAL, ...JOB, client_signature: "0x123" },
      [expect.objectContaining({ type: "string_pattern_mismatch", loc: ["body", "client_signature"] })],
    ],
  ])("%s", async (_name, body, detail) => {
    expect(await detailOf("/v1/specs", body)).toMatchObject({ status: 422, detail });
    expect(((await detailOf("/v1/specs", body)) as { detail: unknown[] }).detail).toHaveLength(detail.length);
  });
});

describe("422 bodies of POST /v1/outputs", () => {
  it.each<[string, unknown, unknown[]]>([
    [
      "an empty object",
      {},
      ["spec_id", "output_text", "submitter_addr", "provider_addr"].map((name) => missing(name, {})),
    ],
    ["an empty output", { ...OUTPUT, output_text: "" }, [short("output_text")]],
    ["an output that is too long", { ...OUTPUT, output_text: LONG }, [long("output_text")]],
    [
      "an unknown submitter",
      { ...OUTPUT, submitted_by: "oracle" },
      [literal("submitted_by", "'client', 'agent' or 'protocol'", "oracle")],
    ],
    ["an unknown mode", { ...OUTPUT, mode: "fast" }, [literal("mode", "'standard'", "fast")]],
    [
      "a spec_id that is no UUID",
      { ...OUTPUT, spec_id: "x" },
      [
        {
          type: "uuid_parsing",
          loc: ["body", "spec_id"],
          msg: expect.stringMatching(/^Input should be a valid UUID, invalid character: found `x` at 1$/),
          input: "x",
          ctx: { error: expect.stringContaining("invalid character") },
        },
      ],
    ],
    ["a spec_id that is a number", { ...OUTPUT, spec_id: 1 }, [notUuid(1)]],
    ["a null spec_id", { ...OUTPUT, spec_id: null }, [notUuid(null)]],
    [
      "a webhook_url that is none, whatever specification there is",
      { ...OUTPUT, webhook_url: "nope" },
      [value("webhook_url", "nope", "the URL has to be an absolute one, of https")],
    ],
    ["a null submitter_addr", { ...OUTPUT, submitter_addr: null }, [notString("submitter_addr", null)]],
    ["an empty webhook_url", { ...OUTPUT, webhook_url: "" }, [short("webhook_url")]],
    [
      "the character U+0000",
      { ...OUTPUT, output_text: "\0" },
      [value("output_text", "\0", expect.stringContaining("U+0000"))],
    ],
  ])("%s", async (_name, body, detail) => {
    expect(await detailOf("/v1/outputs", body)).toMatchObject({ status: 422, detail });
    expect(((await detailOf("/v1/outputs", body)) as { detail: unknown[] }).detail).toHaveLength(
      detail.length,
    );
  });

  it.each([SPEC_ID.toUpperCase(), SPEC_ID.replaceAll("-", ""), `{${SPEC_ID}}`, `urn:uuid:${SPEC_ID}`])(
    "%s is read as pydantic reads it: there is no such specification",
    async (spec_id) => {
      expect(await detailOf("/v1/outputs", { ...OUTPUT, spec_id })).toMatchObject({ status: 404 });
    },
  );
});

describe("a specification that is registered", () => {
  it("is answered with its id and hash, and stored as it was sent", async () => {
    const { status, answer, row } = await specRow({
      provider_addr: null,
      erc8183_job_id: null,
      acceptance_criteria: "1. three numbers",
      domain: "poetry",
      extra: "ignored",
    });
    const hashed = {
      clientAddr: CLIENT,
      providerAddr: null,
      specText: MINIMAL.spec_text,
      acceptanceCriteria: "1. three numbers",
      domain: "poetry",
    };
    const spec_hash = hashSpec(hashed);
    const job_description_tag = `ahs-spec:${spec_hash}`;
    expect([status, answer]).toEqual([
      200,
      { spec_id: row.id, spec_hash, job_description_tag, binding: null },
    ]);
    expect(row).toMatchObject({
      client_addr: CLIENT.toLowerCase(),
      spec_text: MINIMAL.spec_text,
      domain: "poetry",
      job_id: null,
      registered_block: null,
    });
  });

  it("reports at once whether the specification is its job's", async () => {
    const binding = { status: "unbound", reason: "the escrow has no such job" } as const;
    const { answer } = await specRow({}, { binding: async () => binding });
    expect(answer).toMatchObject({ binding });
  });

  it("has the defaults in its hash, whatever the case of its addresses, and an id of its own each time", async () => {
    const [one, other] = [
      await specRow(),
      await specRow({ client_addr: CLIENT.toLowerCase(), domain: "default" }),
    ];
    expect(other.answer.spec_hash).toBe(one.answer.spec_hash);
    expect(other.answer.spec_id).not.toBe(one.answer.spec_id);
  });

  it("counts characters, not their halves", async () => {
    expect((await specRow({ spec_text: "😀".repeat(200_000) })).status).toBe(200);
    expect((await specRow({ spec_text: "😀".repeat(200_001) })).status).toBe(422);
  });

  it("notes its job with the newest block of the node, on this deployment's chain unless it says so", async () => {
    const { row } = await specRow({ ...JOB, client_signature: "0x12ab" }, { newestBlock: async () => 123n });
    expect(row).toMatchObject({
      job_chain_id: 31_337,
      job_escrow: ESCROW.toLowerCase(),
      job_id: "254",
      client_signature: "0x12ab",
      registered_block: "123",
    });
  });

  it("is refused, and nothing stored, where it names a job and the node does not answer", async () => {
    const newestBlock = () =>
      Promise.reject(unavailable("node-unavailable", "gone", { retryAfterSeconds: 5 }));
    expect((await specRow(JOB, { newestBlock })).status).toBe(503);
    const { rows } = await db.$client.query("select 1 from ahs.job_spec");
    expect(rows).toEqual([]);
  });

  it("has its client's signature verified for its job and hash, before the block is noted that it counts from", async () => {
    const asked: unknown[] = [];
    const { answer } = await specRow(
      { ...JOB, client_signature: "0x12ab" },
      {
        refuseSignature: async (signed) => {
          asked.push(signed);
          return null;
        },
        newestBlock: async () => {
          asked.push("block");
          return 123n;
        },
      },
    );
    const job = { chainId: 31_337, escrow: ESCROW.toLowerCase(), jobId: 254n };
    const signed = { job, clientAddr: CLIENT.toLowerCase(), specHash: answer.spec_hash, signature: "0x12ab" };
    expect(asked).toEqual([signed, "block"]);
  });

  it.each<[string, string, string, Parameters<typeof intakeWorld>[1]]>([
    [
      "its signature is not the client's",
      "client_signature",
      "0x12ab",
      { refuseSignature: async () => "not hers" },
    ],
    ["it leaves an output no room", "spec_text", MINIMAL.spec_text, { describeOverflow: () => "not hers" }],
  ])("is refused, and nothing stored, where %s", async (_, member, input, options) => {
    const world = intakeWorld(db, options);
    const response = await world.post("/v1/specs", { ...MINIMAL, ...JOB, client_signature: "0x12ab" });
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { detail: [value(member, input, "not hers")] },
    ]);
    expect((await db.$client.query("select 1 from ahs.job_spec")).rows).toEqual([]);
  });

  it("is refused where its signature cannot be verified, since the node does not answer", async () => {
    const refuseSignature = () =>
      Promise.reject(unavailable("node-unavailable", "gone", { retryAfterSeconds: 5 }));
    expect((await specRow({ ...JOB, client_signature: "0x12ab" }, { refuseSignature })).status).toBe(503);
    expect((await db.$client.query("select 1 from ahs.job_spec")).rows).toEqual([]);
  });

  it("may name a job without an escrow, which needs no node and binds nothing", async () => {
    const newestBlock = () => Promise.reject(new Error("asked"));
    const { row } = await specRow({ erc8183_job_id: "0x7" }, { newestBlock });
    expect(row).toMatchObject({ job_chain_id: null, job_escrow: null, job_id: "7", registered_block: null });
  });

  const spend = (owners: string) =>
    db.$client.query("update ahs.rate_bucket set tokens = -1e12 where identity like $1", [owners]);

  /** A key that was charged 1 USD now. */
  const payingKey = async (world: ReturnType<typeof intakeWorld>) => {
    const key = await world.key();
    await db.$client.query(
      `insert into ahs.key_debit (id, key_id, endpoint, units, state, deadline)
       values (gen_random_uuid(), $1, 'GET /ahs/{address}', 1000, 'kept', now())`,
      [key.id],
    );
    return key;
  };

  it("is refused beyond the bytes that its address may store in a day, counted as they are stored", async () => {
    await db.$client.query("truncate ahs.rate_bucket");
    const world = intakeWorld(db);
    const from = (address: string, body: object, headers = {}) =>
      world.post("/v1/specs", { ...MINIMAL, ...body }, { "x-forwarded-for": address, ...headers });
    expect((await from("192.0.2.7", { spec_text: "\u{1f984}".repeat(1_000) })).status).toBe(200);
    const { rows } = await db.$client.query<{ spent: number }>(
      "select 20000000 - tokens as spent from ahs.rate_bucket where identity like 'bytes:specs of ________________________%'",
    );
    expect(rows).toEqual([{ spent: 1_000 + 4_000 + "default".length }]);
    await spend("bytes:specs of ________________________%");
    const refused = await from("192.0.2.7", {});
    expect([refused.status, Number(refused.headers.get("retry-after")) > 60]).toEqual([429, true]);
    expect((await from("192.0.2.8", {})).status).toBe(200);
    expect((await from("192.0.2.7", {}, (await world.key()).headers)).status).toBe(429);
    expect((await from("192.0.2.7", {}, (await payingKey(world)).headers)).status).toBe(200);
  });

  it("is refused where all have stored what the service takes in a day, but for keys that are charged", async () => {
    const world = intakeWorld(db);
    await world.post("/v1/specs", MINIMAL);
    await spend("bytes:specs of addresses");
    const refused = await world.post("/v1/specs", MINIMAL);
    const { type } = (await refused.json()) as { type: string };
    expect([refused.status, type, Number(refused.headers.get("retry-after")) >= 1]).toEqual([
      503,
      "/docs#problem-storage-spent",
      true,
    ]);
    expect((await world.post("/v1/specs", MINIMAL, (await world.key()).headers)).status).toBe(503);
    expect((await world.post("/v1/specs", MINIMAL, (await payingKey(world)).headers)).status).toBe(200);
    await db.$client.query("truncate ahs.rate_bucket");
  });

  it("that names a job without a signature is refused beyond the sender's small part, so that none takes it all", async () => {
    await db.$client.query("truncate ahs.rate_bucket");
    const world = intakeWorld(db, { newestBlock: async () => 123n });
    const [one, other] = [await payingKey(world), await payingKey(world)];
    const ofJob = { ...MINIMAL, ...JOB, spec_text: "\u{1f984}".repeat(100_000) };
    const statuses: number[] = [];
    for (let sent = 0; sent < 10; sent += 1)
      statuses.push((await world.post("/v1/specs", ofJob, one.headers)).status);
    expect(statuses.toSorted()).toEqual([...Array<number>(9).fill(200), 429]);
    expect((await world.post("/v1/specs", ofJob, other.headers)).status).toBe(200);
    expect((await world.post("/v1/specs", MINIMAL, one.headers)).status).toBe(200);
    await db.$client.query("truncate ahs.rate_bucket");
  });

  it("is refused beyond the limit of its address", async () => {
    const world = intakeWorld(db, {
      specLimit: () => ({ policy: "ip", perMinute: 20, tokens: 0 }),
    });
    const response = await world.post("/v1/specs", MINIMAL);
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "3"]);
  });
});
