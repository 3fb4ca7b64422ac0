import { describe, expect, it } from "vitest";
import { SIGNER } from "../../access/signed-in.ts";
import { bodyOf, NOW, WALLET, WALLET_EIP55 } from "../fake-ports.ts";
import { BY_KEY, bySignIn, policyApp } from "./policy-app.ts";

const LEAST = { instant_grades: ["A", "B"], escrow_grades: ["C"] };
const DEFAULTS = {
  ...LEAST,
  reject_grades: ["D", "E", "F"],
  escrow_disabled: false,
  allowlist: [],
  confidence_overrides: {},
  insufficient_action: "escrow",
  max_instant_usd: null,
  safe_amount_multiple: 1,
  min_confidence_for_instant: null,
  threat_action: "ignore",
  updated_at: NOW.toISOString(),
};
const wallets = (count: number) =>
  Array.from({ length: count }, (_, index) => `0x${String(index).padStart(40, "0")}`);

describe("PUT /ahs/route/policy", () => {
  it("answers the policy as it stores it, with its time and a strong ETag", async () => {
    const { put, get } = policyApp();
    const policy = {
      instant_grades: ["A"],
      escrow_grades: ["B", "C"],
      reject_grades: ["F", "E", "D"],
      escrow_disabled: true,
      allowlist: [WALLET, WALLET_EIP55],
      confidence_overrides: { A: { LOW: "reject", MEDIUM: "reject" }, D: { HIGH: "escrow" } },
      insufficient_action: "reject",
      max_instant_usd: 25.000001,
      safe_amount_multiple: 0.5,
      min_confidence_for_instant: "MEDIUM",
      threat_action: "reject",
    };
    const response = await put(policy);
    const stored = {
      ...policy,
      reject_grades: ["D", "E", "F"],
      allowlist: [WALLET_EIP55],
      updated_at: NOW.toISOString(),
    };
    expect([response.status, await response.json()]).toEqual([200, stored]);
    expect(response.headers.get("etag")).toMatch(/^"[0-9a-f]{64}"$/);
    const read = await get(BY_KEY);
    expect([await read.json(), read.headers.get("etag")]).toEqual([stored, response.headers.get("etag")]);
  });

  it("gives what is left out its default", async () => {
    const { put } = policyApp();
    await put({ ...LEAST, escrow_disabled: true, allowlist: [WALLET], insufficient_action: "reject" });
    const response = await put(LEAST);
    expect([response.status, await response.json()]).toEqual([200, DEFAULTS]);
  });

  it("takes the answer of GET as it is", async () => {
    const { put, get } = policyApp();
    await put({ ...LEAST, allowlist: [WALLET], max_instant_usd: "2.5" });
    const read = await (await get(BY_KEY)).json();
    const response = await put(read);
    expect([response.status, await response.json()]).toEqual([200, read]);
  });

  it("refuses members that it does not know, and keeps the stored policy", async () => {
    const { put, get } = policyApp();
    await put({ ...LEAST, escrow_disabled: true });
    const response = await put({ ...LEAST, alowlist: ["x"], partner: 7 });
    expect([response.status, (await bodyOf<{ detail: unknown[] }>(response)).detail]).toMatchObject([
      422,
      [{ loc: ["body"], type: "extra_forbidden", msg: "Extra inputs are not permitted: alowlist, partner" }],
    ]);
    expect(await (await get(BY_KEY)).json()).toMatchObject({ escrow_disabled: true });
  });

  it.each([
    [{ escrow_disabled: true }, { escrow_disabled: true, instant_grades: ["A", "B"], escrow_grades: ["C"] }],
    [{ instant_grades: ["A"] }, { instant_grades: ["A"], escrow_grades: ["C"], reject_grades: [..."BDEF"] }],
    [{ escrow_grades: ["B", "C"] }, { instant_grades: ["A"], escrow_grades: ["B", "C"] }],
    [{ reject_grades: [..."CDEF"] }, { instant_grades: ["A", "B"], escrow_grades: [] }],
  ])("takes a part of a policy: %j", async (part, stored) => {
    const response = await policyApp().put(part);
    expect([response.status, await response.json()]).toMatchObject([200, stored]);
  });

  it("takes decimals as strings as well, without rounding", async () => {
    const { put } = policyApp();
    const response = await put({ ...LEAST, max_instant_usd: "999999999.999999", safe_amount_multiple: "10" });
    expect(await response.json()).toEqual({
      ...DEFAULTS,
      max_instant_usd: 999_999_999.999999,
      safe_amount_multiple: 10,
    });
  });

  it("takes sets that are empty", async () => {
    const body = await bodyOf((await policyApp().put({ instant_grades: [], escrow_grades: [] })) as Response);
    expect(body.reject_grades).toEqual(["A", "B", "C", "D", "E", "F"]);
    const all = { instant_grades: ["A", "B", "C", "D", "E", "F"], escrow_grades: [], reject_grades: [] };
    expect((await policyApp().put(all)).status).toBe(200);
  });

  it("takes a thousand allowlisted wallets", async () => {
    const response = await policyApp().put({ ...LEAST, allowlist: wallets(1_000) });
    expect((await bodyOf<{ allowlist: unknown[] }>(response)).allowlist).toHaveLength(1_000);
  });

  it("is of a wallet that signs in as well, and of each caller alone", async () => {
    const { put, get } = policyApp();
    expect((await put({ ...LEAST, escrow_disabled: true }, await bySignIn())).status).toBe(200);
    expect(await (await get(await bySignIn())).json()).toMatchObject({ escrow_disabled: true });
    expect(await (await get(BY_KEY)).json()).toMatchObject({ escrow_disabled: false, updated_at: null });
  });

  it("is of the key where a request brings both", async () => {
    const { put, get } = policyApp();
    await put({ ...LEAST, escrow_disabled: true }, { ...BY_KEY, ...(await bySignIn()) });
    expect(await (await get(BY_KEY)).json()).toMatchObject({ escrow_disabled: true });
  });

  it.each([
    ["nobody", {}, "identity-missing"],
    ["a key that nobody has", { "X-API-Key": "ahs_x" }, "key-unknown"],
    ["something that is no sign-in", { "SIGN-IN-WITH-X": "e30=" }, "sign-in-invalid"],
  ])("of %s is 401", async (_name, headers, code) => {
    const response = await policyApp().put(LEAST, headers);
    expect([response.status, (await bodyOf(response)).type]).toEqual([401, `/docs#problem-${code}`]);
    expect(response.headers.get("www-authenticate")).toContain("X-API-Key");
  });

  it("refuses the caller's own wallet, however it is written", async () => {
    const own = SIGNER.address.toLowerCase() as typeof WALLET;
    for (const wallet of [own, SIGNER.address]) {
      const { put } = policyApp({ own: [own] });
      const response = await put({ ...LEAST, allowlist: [WALLET, wallet] });
      expect([response.status, await response.json()]).toMatchObject([
        422,
        { detail: [{ type: "value_error", loc: ["body", "allowlist", 1], input: SIGNER.address }] },
      ]);
    }
  });
});

describe("If-Match", () => {
  const STRICT = { instant_grades: ["A"], escrow_grades: [] };
  const tagOf = (response: Response) => response.headers.get("etag") ?? "";

  it("lets an update through that saw the newest policy, and no other", async () => {
    const { put } = policyApp();
    const seen = tagOf(await put(LEAST));
    const first = await put(STRICT, { ...BY_KEY, "If-Match": seen });
    const second = await put(LEAST, { ...BY_KEY, "If-Match": seen });
    expect([first.status, second.status]).toEqual([200, 412]);
    expect((await bodyOf(second)).type).toBe("/docs#problem-precondition-failed");
    const listed = await put(LEAST, { ...BY_KEY, "If-Match": `"abc", ${tagOf(first)}` });
    expect(listed.status).toBe(200);
  });

  it("of the default table's tag lets the first policy through once", async () => {
    const { put, get } = policyApp();
    const seen = tagOf(await get(BY_KEY));
    const statuses = [];
    for (let time = 0; time < 2; time += 1)
      statuses.push((await put(STRICT, { ...BY_KEY, "If-Match": seen })).status);
    expect(statuses).toEqual([200, 412]);
  });

  it.each([
    ["*", 200],
    ['W/"%tag%"', 412],
    ['"other"', 412],
    ['""', 412],
    ["%tag%", 400],
    ["", 400],
    ['"a" "b"', 400],
    ['"a', 400],
  ])("%s is answered %d", async (header, status) => {
    const { put } = policyApp();
    const tag = tagOf(await put(LEAST)).replaceAll('"', "");
    const response = await put(STRICT, { ...BY_KEY, "If-Match": header.replace("%tag%", tag) });
    expect(response.status).toBe(status);
  });
});
