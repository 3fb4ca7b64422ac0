import fc from "fast-check";
import { expect, it } from "vitest";
import { useDatabase } from "../../../support/test-database.ts";
import { CLIENT, ESCROW, intakeWorld, ledgerOf, PROVIDER } from "./intake-world.ts";

const db = useDatabase();

/** Unicode text, invalid Unicode, numbers and structures; sometimes a fitting value. */
const hostile = (fitting: unknown) =>
  fc.oneof(
    { arbitrary: fc.constant(fitting), weight: 3 },
    { arbitrary: fc.string({ unit: "binary" }), weight: 2 },
    {
      arbitrary: fc.constantFrom("\0", "\ud800", "\udfff\ud800", "0x", "1e400", "'; drop table--"),
      weight: 1,
    },
    { arbitrary: fc.jsonValue(), weight: 1 },
  );

const bodies = (fitting: Readonly<Record<string, unknown>>) =>
  fc.record(Object.fromEntries(Object.entries(fitting).map(([name, value]) => [name, hostile(value)])), {
    requiredKeys: [],
  });

it("no specification makes an error of ours, and what is stored has the hash that is answered", async () => {
  const world = intakeWorld(db);
  const fitting = {
    client_addr: CLIENT,
    provider_addr: PROVIDER,
    spec_text: "Count.",
    acceptance_criteria: "- to 3",
    domain: "code",
    erc8183_job_id: "0x7",
    chain_id: 31_337,
    escrow: ESCROW,
    client_signature: "0x12",
  };
  await fc.assert(
    fc.asyncProperty(bodies(fitting), async (body) => {
      const response = await world.post("/v1/specs", body);
      expect([200, 422]).toContain(response.status);
      if (response.status !== 200) return;
      const { spec_id, spec_hash } = (await response.json()) as Record<string, string>;
      const { rows } = await db.$client.query("select spec_hash from ahs.job_spec where id = $1", [spec_id]);
      expect(rows).toEqual([{ spec_hash }]);
    }),
    { numRuns: 200 },
  );
});

it("no output makes an error of ours, and none but those that are accepted is charged", async () => {
  const world = intakeWorld(db, {
    refuseUrl: async (url) => (URL.canParse(url) ? null : { kind: "refused", error: "no URL" }),
  });
  const { headers } = await world.key(1_000_000);
  const fitting = {
    spec_id: await world.registered(),
    output_text: "1, 2, 3",
    submitted_by: "agent",
    submitter_addr: CLIENT,
    provider_addr: PROVIDER,
    mode: "standard",
    webhook_url: "https://hooks.example.com/",
  };
  await fc.assert(
    fc.asyncProperty(bodies(fitting), fc.boolean(), async (body, named) => {
      const own = named ? { ...headers, "Idempotency-Key": crypto.randomUUID() } : headers;
      const response = await world.submit(body, own);
      expect([200, 404, 422]).toContain(response.status);
    }),
    { numRuns: 200 },
  );
  const { captured, accepted, held, unsettled } = await ledgerOf(db);
  expect([captured, held, unsettled]).toEqual([accepted, 0, 0]);
});
