import { describe, expect, it } from "vitest";
import type { ErasureOutcome } from "../../../../service/verification/verdicts/verdict-result.ts";
import { bodyOf, NOW, WITH_KEY } from "../fake-ports.ts";
import { bothPorts, fakeVerificationApp, OWNER, VERDICT_ID } from "./fake-verification-ports.ts";

const PATH = `/v1/verdicts/${VERDICT_ID}/texts`;
const DELETE = { ...WITH_KEY, method: "DELETE" };

describe("DELETE /v1/verdicts/{verdict_id}/texts", () => {
  it("notes the request under the caller's name, and says when the texts were erased", async () => {
    const asked: unknown[] = [];
    const app = fakeVerificationApp({
      eraseTexts: async (request) => {
        asked.push(request);
        return { kind: "requested", requestedAt: NOW, erasedAt: NOW };
      },
    });
    const response = await app.request(PATH, DELETE);
    expect([response.status, await bodyOf<unknown>(response)]).toEqual([
      200,
      { verdict_id: VERDICT_ID, requested_at: NOW.toISOString(), erased_at: NOW.toISOString() },
    ]);
    expect(asked).toMatchObject([{ verdictId: VERDICT_ID, owner: OWNER }]);
  });

  it.each<[ErasureOutcome, status: number, problem: string]>([
    [{ kind: "unknown" }, 404, "not-found"],
    [{ kind: "stranger" }, 403, "not-the-submitter"],
    [{ kind: "open", status: "pending" }, 409, "verdict-open"],
    [{ kind: "unsettled" }, 409, "verdict-open"],
    [{ kind: "owed" }, 409, "verdict-open"],
  ])("refuses %j with %i", async (outcome, status, problem) => {
    const response = await fakeVerificationApp({ eraseTexts: async () => outcome }).request(PATH, DELETE);
    expect([response.status, (await bodyOf(response)).type]).toEqual([status, `/docs#problem-${problem}`]);
  });

  it("needs a key or a sign-in, and the id of a verdict", async () => {
    const app = fakeVerificationApp();
    expect((await app.request(PATH, { method: "DELETE" })).status).toBe(401);
    expect((await app.request("/v1/verdicts/x/texts", DELETE)).status).toBe(404);
  });

  it("leaves of an evidence document its hash", async () => {
    const { verdicts } = bothPorts();
    const evidence = async () => ({ run: 1, body: null, hash: `0x${"ab".repeat(32)}` as const });
    const app = fakeVerificationApp({ verdicts: { ...verdicts, evidence } });
    const response = await app.request(`/v1/verdicts/${VERDICT_ID}/evidence`);
    expect([response.status, (await bodyOf(response)).detail]).toEqual([
      410,
      `The evidence of decision 1 was erased on request. Its hash stays: 0x${"ab".repeat(32)}.`,
    ]);
  });
});
