import { OpenAPIHono, z } from "@hono/zod-openapi";
import fc from "fast-check";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import type { ApiEnv } from "../../../../service/api/kit/api-env.ts";
import { createErrorHandler } from "../../../../service/api/kit/handle-error.ts";
import { BODY_LIMIT_BYTES, type RequestSchemas, readInput } from "../../../../service/api/kit/read-input.ts";
import { addressParams, addressSchema } from "../../../../service/api/schemas/values.ts";
import { bodyOf } from "../fake-ports.ts";

const text = z.string().min(1).max(200_000);
const spec = z.object({
  client_addr: z.string(),
  provider_addr: z.string().nullable().default(null),
  spec_text: text,
  acceptance_criteria: text.nullable().default(null),
  domain: z.string().default("default"),
  erc8183_job_id: z.string().nullable().default(null),
});
const output = z.object({
  spec_id: z.guid(),
  output_text: text,
  submitted_by: z.enum(["client", "agent", "protocol"]).default("client"),
  mode: z.enum(["standard"]).default("standard"),
});
const batch = z.object({ addresses: z.array(z.string()).min(1).max(10) });

type Answer = {
  readonly detail: readonly { readonly type: string; readonly loc: unknown }[];
  readonly seen?: { readonly body: unknown };
};

const NONE = z.object({});

function appOf<Params, Query, Body>(path: string, schemas: RequestSchemas<Params, Query, Body>) {
  const app = new OpenAPIHono<ApiEnv>();
  app.onError(createErrorHandler(pino({ level: "silent" })));
  app.all(path, async (context) => context.json({ seen: await readInput(context.req, schemas) }));
  return app;
}

/** Sends bytes to an endpoint that reads the specification. */
function send(init: RequestInit) {
  const app = appOf("/", { params: NONE, query: NONE, body: spec });
  return app.request("/", { method: "POST", ...init });
}

async function post(schema: z.ZodType, body: string | undefined, contentType = "application/json") {
  const response = await appOf("/", { params: NONE, query: NONE, body: schema }).request("/", {
    method: "POST",
    headers: { "Content-Type": contentType },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, body: await bodyOf<Answer>(response) };
}

/** A fault at a place of the body. */
const fault = (type: string, place: readonly unknown[], msg: string, input: unknown, ctx?: object) => ({
  ...{ type, loc: ["body", ...place], msg, input },
  ...(ctx === undefined ? {} : { ctx }),
});
const missing = (name: string, input: unknown) => fault("missing", [name], "Field required", input);
const notString = (place: unknown[], input: unknown) =>
  fault("string_type", place, "Input should be a valid string", input);
const ok = { client_addr: "0x", spec_text: "x" };
const okOutput = { spec_id: "7f1f9c34-3df6-4f0e-8b0e-2f1d8f1c7a11", output_text: "x" };
const ELEVEN = Array(11).fill("a");

/** Beside those of POST /v1/specs and POST /v1/outputs in post-specs.test.ts. */
const CASES: readonly (readonly [string, z.ZodType, unknown, ...unknown[]])[] = [
  [
    "several faults, in field order",
    spec,
    { spec_text: 2, client_addr: 1, provider_addr: 5 },
    notString(["client_addr"], 1),
    notString(["provider_addr"], 5),
    notString(["spec_text"], 2),
  ],
  ...(
    [
      ["abc", "invalid length: expected length 32 for simple format, found 3"],
      ["ab-c", "invalid group count: expected 5, found 2"],
      ["7f1f9c3-3df6-4f0e-8b0e-2f1d8f1c7a11", "invalid group length in group 0: expected 8, found 7"],
      ["7f1f9c34-3df6-4f0e-8b0e-2f1d8f1c7a1", "invalid group length in group 4: expected 12, found 11"],
    ] as const
  ).map(
    ([id, error]) =>
      [
        `the id "${id}" for a UUID`,
        output,
        { ...okOutput, spec_id: id },
        fault("uuid_parsing", ["spec_id"], `Input should be a valid UUID, ${error}`, id, { error }),
      ] as const,
  ),
  [
    "a string for a list",
    batch,
    { addresses: "0x" },
    fault("list_type", ["addresses"], "Input should be a valid list", "0x"),
  ],
  [
    "wrong members of a list",
    batch,
    { addresses: ["a", 2, null] },
    notString(["addresses", 1], 2),
    notString(["addresses", 2], null),
  ],
  [
    "an empty list",
    batch,
    { addresses: [] },
    fault("too_short", ["addresses"], "List should have at least 1 item after validation, not 0", [], {
      ...{ field_type: "List", min_length: 1, actual_length: 0 },
    }),
  ],
  [
    "a list of eleven",
    batch,
    { addresses: ELEVEN },
    fault("too_long", ["addresses"], "List should have at most 10 items after validation, not 11", ELEVEN, {
      ...{ field_type: "List", max_length: 10, actual_length: 11 },
    }),
  ],
];

describe("a body that does not fit", () => {
  it.each(CASES.map(([name, ...rest]) => [name, rest] as const))(
    "%s",
    async (_name, [schema, body, ...detail]) => {
      expect(await post(schema, JSON.stringify(body))).toEqual({ status: 422, body: { detail } });
    },
  );

  it("that is absent is missing", async () => {
    const detail = [fault("missing", [], "Field required", null)];
    expect(await post(spec, undefined)).toEqual({ status: 422, body: { detail } });
  });

  it.each(["text/plain", "application/x-www-form-urlencoded"])("%s is text, not 415", async (contentType) => {
    expect(await post(spec, '{"client_addr":"0x"}', contentType)).toMatchObject({
      status: 422,
      body: { detail: [{ type: "model_attributes_type", loc: ["body"], input: '{"client_addr":"0x"}' }] },
    });
  });

  it.each([
    ['{"a": 1,}', 8, "Expecting property name enclosed in double quotes"],
    ['{"a" 1}', 5, "Expecting ':' delimiter"],
    ["[1, 2", 5, "Expecting ',' delimiter"],
    ['{"a": }', 6, "Expecting value"],
    ['["é😀", x]', 7, "Expecting value"],
    ['{"a": "b', 6, "Unterminated string starting at"],
    ["nope", 0, "Expecting value"],
    ["{", 1, "Expecting property name enclosed in double quotes"],
    ["{a:1}", 1, "Expecting property name enclosed in double quotes"],
    ["{'a':1}", 1, "Expecting property name enclosed in double quotes"],
    ["[1, 2,]", 6, "Expecting value"],
    ['[{"x": 1}, {"y: 2}]', 12, "Unterminated string starting at"],
    ['{"a": "b" "c": 1}', 10, "Expecting ',' delimiter"],
    ['{"a": "\\x"}', 7, "Invalid \\escape"],
    ['{"a": "\\u12"}', 8, "Invalid \\uXXXX escape"],
    ['["a\tb"]', 3, "Invalid control character at"],
    ['{"a": 1}}', 8, "Extra data"],
    ["1.", 1, "Extra data"],
  ])("broken JSON %s names the character", async (body, position, error) => {
    const detail = [fault("json_invalid", [position], "JSON decode error", {}, { error })];
    expect(await post(spec, body)).toEqual({ status: 422, body: { detail } });
  });

  it("an object over 2 KiB is not echoed", async () => {
    const { body } = await post(spec, JSON.stringify({ noise: "n".repeat(3000) }));
    expect(body.detail[0]).toEqual(missing("client_addr", null));
  });

  it("nesting beyond the stack is a fault of the body", async () => {
    const deep = "[".repeat(500_000);
    expect((await post(spec, deep)).status).toBe(422);
    expect(await post(spec, `${deep}${"]".repeat(500_000)}`)).toMatchObject({
      status: 422,
      body: { detail: [{ type: "model_attributes_type", input: null }] },
    });
  });

  it("nothing that JSON can say is answered by more than a 422", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const { status } = await post(batch, JSON.stringify(value));
        return status === 200 || status === 422;
      }),
      { numRuns: 200 },
    );
  });
});

describe("a body that fits", () => {
  it("gets defaults, keeps nulls where they are allowed and loses unknown members", async () => {
    const { status, body } = await post(spec, JSON.stringify({ ...ok, provider_addr: null, more: 1 }));
    expect([status, body.seen?.body]).toEqual([
      200,
      {
        client_addr: "0x",
        provider_addr: null,
        spec_text: "x",
        acceptance_criteria: null,
        domain: "default",
        erc8183_job_id: null,
      },
    ]);
  });
});

describe("a body beyond 2 MiB", () => {
  it("is refused by its declared length", async () => {
    const headers = { "Content-Length": String(BODY_LIMIT_BYTES + 1) };
    const response = await send({ headers, body: "{}" });
    expect([response.status, response.headers.get("content-type")]).toEqual([
      413,
      "application/problem+json",
    ]);
  });

  it("is refused while it streams in without a length", async () => {
    const chunk = new Uint8Array(256 * 1024).fill(32);
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += chunk.byteLength;
        if (sent > 16 * BODY_LIMIT_BYTES) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const app = appOf("/", { params: NONE, query: NONE, body: spec });
    const response = await app.request(new Request("http://x/", { method: "POST", body, duplex: "half" }));
    expect(response.status).toBe(413);
    expect(sent).toBeLessThan(2 * BODY_LIMIT_BYTES);
  });
});

describe("a body whose bytes are no text", () => {
  it.each([
    ["UTF-8 cut short", [0x22, 0xff, 0xfe, 0x22]],
    ["an overlong form", [0x22, 0xc0, 0x80, 0x41, 0x22]],
    ["UTF-16", [...Buffer.from('"a"', "utf16le"), 0xd8]],
    ["a half of a pair", [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ])("is refused: %s", async (_what, bytes) => {
    const headers = { "content-type": "application/json" };
    const response = await send({ headers, body: Uint8Array.from(bytes) });
    const { detail } = await bodyOf<{ detail: string }>(response);
    expect([response.status, detail]).toEqual([400, "There was an error parsing the body"]);
  });

  it.each(["gzip", "br", "gzip, identity"])("is refused: Content-Encoding %s", async (encoding) => {
    const headers = { "content-type": "application/json", "content-encoding": encoding };
    const response = await send({ headers, body: "{}" });
    expect([response.status, response.headers.get("accept-encoding")]).toEqual([415, "identity"]);
  });
});

describe("a fault of another type or size", () => {
  it.each([[[]], [{}]])("reports one fault for a text that is %j", async (value) => {
    const { body } = await post(spec, JSON.stringify({ client_addr: "x", spec_text: value }));
    expect(body.detail.map(({ type, loc }) => [type, loc])).toEqual([["string_type", ["body", "spec_text"]]]);
  });

  it.each(["", "x".repeat(101)])("reports one fault for a list that is a text", async (addresses) => {
    const { body } = await post(batch, JSON.stringify({ addresses }));
    expect(body.detail.map(({ type }) => type)).toEqual(["list_type"]);
  });

  it.each(["12345678901234567890123", "-9007199254740993"])(
    "repeats %s as it was written",
    async (number) => {
      const body = `{"client_addr": ${number}, "spec_text": {"a": [${number}]}}`;
      const text = await (await send({ headers: { "content-type": "application/json" }, body })).text();
      expect(text).toContain(`"input":${number}`);
      expect(text).toContain(`"input":{"a":[${number}]}`);
    },
  );
});

describe("path, query and body together", () => {
  const schemas = {
    params: addressParams,
    query: z.object({ include: z.enum(["features"]).optional() }),
    body: z.object({ to: addressSchema }),
  };

  it("report the faults of all three in one answer, in that order", async () => {
    const response = await appOf("/:address", schemas).request("/0x12?include=x", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: '{"to":3}',
    });
    const { detail } = await bodyOf<Answer>(response);
    expect(detail.map((fault) => [fault.type, fault.loc])).toEqual([
      ["string_pattern_mismatch", ["path", "address"]],
      ["literal_error", ["query", "include"]],
      ["string_type", ["body", "to"]],
    ]);
  });
});

describe("an address", () => {
  const app = appOf("/:address", { params: addressParams, query: NONE, body: null });
  const lower = "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc";

  it.each([lower, `0x${lower.slice(2).toUpperCase()}`, "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc"])(
    "%s is taken as %s in lower case",
    async (given) => {
      const response = await app.request(`/${given}`);
      expect(await response.json()).toEqual({ seen: { params: { address: lower }, query: {}, body: null } });
    },
  );

  it("with a wrong EIP-55 checksum is a value error", async () => {
    const wrong = "0x9965507d1a55bcC2695C58ba16FB37d819B0A4dc";
    const response = await app.request(`/${wrong}`);
    const error = `mixed-case address fails its EIP-55 checksum: got ${wrong}, expected 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc`;
    const detail = [
      { ...fault("value_error", [], `Value error, ${error}`, wrong, { error }), loc: ["path", "address"] },
    ];
    expect([response.status, await response.json()]).toEqual([422, { detail }]);
  });

  it.each([
    "0x12",
    "9965507d1a55bcc2695c58ba16fb37d819b0a4dc",
    `${lower}0`,
    `0X${lower.slice(2)}`,
    "vitalik.eth",
  ])("%s names the pattern", async (given) => {
    const response = await app.request(`/${given}`);
    const pattern = "^0x[0-9a-fA-F]{40}$";
    const msg = `String should match pattern '${pattern}'`;
    const detail = [
      { ...fault("string_pattern_mismatch", [], msg, given, { pattern }), loc: ["path", "address"] },
    ];
    expect([response.status, await response.json()]).toEqual([422, { detail }]);
  });
});
