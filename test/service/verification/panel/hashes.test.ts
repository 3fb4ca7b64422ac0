import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getAddress } from "viem";
import { expect, it } from "vitest";
import { hashSpec, hashText } from "../../../../service/verification/panel/hashes.ts";

const client = getAddress("0x00000000000000000000000000000000000a11ce");
const spec = {
  clientAddr: client,
  providerAddr: null,
  specText: "Name three cities.",
  acceptanceCriteria: null,
  domain: "default",
};

it("covers its five members in the order and form of RFC 8785", () => {
  const body = `{"acceptance_criteria":null,"client_addr":"${client}","domain":"default","provider_addr":null,"spec_text":"Name three cities."}`;
  expect(hashSpec(spec)).toBe(hashText(body));
});

it("is the same whatever case its addresses come in", () => {
  const lower = { ...spec, clientAddr: client.toLowerCase() as `0x${string}` };
  expect(hashSpec(lower)).toBe(hashSpec(spec));
});

it.each([
  { name: "the text", change: { specText: "Name three cities!" } },
  { name: "criteria", change: { acceptanceCriteria: "" } },
  { name: "the domain", change: { domain: "code" } },
  { name: "the provider", change: { providerAddr: client } },
  { name: "the client", change: { clientAddr: getAddress("0x0000000000000000000000000000000000000b0b") } },
])("differs with $name", ({ change }) => {
  expect(hashSpec({ ...spec, ...change })).not.toBe(hashSpec(spec));
});

it("hashes half a surrogate pair as UTF-8 writes it", () => {
  expect(hashSpec({ ...spec, specText: "a\ud800b" })).toBe(hashSpec({ ...spec, specText: "a\ufffdb" }));
  expect(hashText("\udc00")).toBe(hashText("\ufffd"));
});

it("hashes the longest texts that are accepted", () => {
  expect(hashSpec({ ...spec, specText: "界".repeat(200_000) })).toMatch(/^0x[0-9a-f]{64}$/);
});

it("agrees with the golden vectors", () => {
  const golden = JSON.parse(
    readFileSync(join(import.meta.dirname, "../../../golden/verification-hashes.json"), "utf8"),
  );
  expect(golden.specs.length).toBeGreaterThan(3);
  for (const vector of golden.specs) {
    const { client_addr, provider_addr, spec_text, acceptance_criteria, domain } = JSON.parse(vector.body);
    const members = { clientAddr: client_addr, providerAddr: provider_addr, specText: spec_text };
    expect(hashSpec({ ...members, acceptanceCriteria: acceptance_criteria, domain })).toBe(vector.hash);
    expect(hashText(vector.body)).toBe(vector.hash);
  }
  for (const { text, hash } of golden.texts) expect(hashText(text)).toBe(hash);
  for (const { body, hash } of golden.evidence) expect(hashText(body)).toBe(hash);
});
