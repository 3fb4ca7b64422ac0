import { describe, expect, it } from "vitest";
import { bodyOf } from "../fake-ports.ts";
import { BY_KEY, bySignIn, policyApp } from "./policy-app.ts";

const POLICY = { instant_grades: ["A"], escrow_grades: ["B"] };
const tagOf = (response: Response) => response.headers.get("etag") ?? "";

describe("GET /ahs/route/policy", () => {
  it("answers the default table to a caller who has no policy", async () => {
    const response = await policyApp().get(BY_KEY);
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        instant_grades: ["A", "B"],
        escrow_grades: ["C"],
        reject_grades: ["D", "E", "F"],
        escrow_disabled: false,
        allowlist: [],
        confidence_overrides: {},
        insufficient_action: "escrow",
        max_instant_usd: null,
        safe_amount_multiple: 1,
        min_confidence_for_instant: null,
        threat_action: "ignore",
        updated_at: null,
      },
    ]);
    expect(tagOf(response)).toMatch(/^"[0-9a-f]{64}"$/);
  });

  it("is for its caller alone, and asked for again each time", async () => {
    const { headers } = await policyApp().get(await bySignIn());
    expect([headers.get("cache-control"), headers.get("vary")]).toEqual([
      "private, no-cache",
      expect.stringContaining("X-API-Key, Authorization, SIGN-IN-WITH-X"),
    ]);
  });

  it.each([
    ["the tag itself", '"%tag%"', 304],
    ["its weak form", 'W/"%tag%"', 304],
    ["a list with it", '"other", "%tag%"', 304],
    ["anything", "*", 304],
    ["another tag", '"other"', 200],
    ["no tag at all", "%tag%", 200],
  ])("with If-None-Match of %s answers accordingly", async (_name, header, status) => {
    const { get, put } = policyApp();
    await put(POLICY);
    const tag = tagOf(await get(BY_KEY));
    const response = await get({
      ...BY_KEY,
      "If-None-Match": header.replace("%tag%", tag.replaceAll('"', "")),
    });
    expect([response.status, tagOf(response)]).toEqual([status, tag]);
    if (status === 304) expect(await response.text()).toBe("");
  });

  it("answers the policy again once it was replaced", async () => {
    const { get, put } = policyApp();
    const before = tagOf(await get(BY_KEY));
    await put(POLICY);
    const response = await get({ ...BY_KEY, "If-None-Match": before });
    expect([response.status, (await bodyOf(response)).instant_grades]).toEqual([200, ["A"]]);
  });
});
