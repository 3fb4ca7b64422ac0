import { createHash } from "node:crypto";
import { keccak256, stringToHex } from "viem";
import { describe, expect, it } from "vitest";
import { bothPorts, EVIDENCE, fakeVerificationApp, VERDICT_ID } from "./fake-verification-ports.ts";

const PATH = `/v1/verdicts/${VERDICT_ID}/evidence`;

describe("GET /v1/verdicts/{verdict_id}/evidence", () => {
  it("answers the very bytes that were hashed, with their digest", async () => {
    const response = await fakeVerificationApp().request(PATH);
    const body = await response.text();
    expect([response.status, response.headers.get("content-type"), body]).toEqual([
      200,
      "application/json",
      EVIDENCE,
    ]);
    expect(response.headers.get("etag")).toBe(`"${keccak256(stringToHex(body))}"`);
    const digest = createHash("sha256").update(body).digest("base64");
    expect(response.headers.get("content-digest")).toBe(`sha-256=:${digest}:`);
  });

  it("answers an earlier decision by its number, for ever the same", async () => {
    const response = await fakeVerificationApp().request(`${PATH}?run=1`);
    expect([response.status, response.headers.get("cache-control")]).toEqual([
      200,
      "private, max-age=31536000, immutable",
    ]);
  });

  it("is 304 for who has it", async () => {
    const app = fakeVerificationApp();
    const tag = (await app.request(PATH)).headers.get("etag") ?? "";
    expect((await app.request(PATH, { headers: { "if-none-match": tag } })).status).toBe(304);
  });

  it("is 404 for another verdict, a decision that is not there, and before the first", async () => {
    const { verdicts } = bothPorts();
    const undecided = fakeVerificationApp({ verdicts: { ...verdicts, evidence: async () => null } });
    const statuses = await Promise.all([
      fakeVerificationApp().request(`/v1/verdicts/x/evidence`),
      fakeVerificationApp().request(`${PATH}?run=2`),
      undecided.request(PATH),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404]);
  });

  it.each(["0", "-1", "x", "1.5", "99999"])("is 422 for run=%s", async (run) => {
    expect((await fakeVerificationApp().request(`${PATH}?run=${run}`)).status).toBe(422);
  });
});
