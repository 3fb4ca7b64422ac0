import { describe, expect, it } from "vitest";
import type { DeliveryPage } from "../../../../service/alerts/webhook-log.ts";
import { bodyOf, NOW, WITH_KEY } from "../fake-ports.ts";
import { bothPorts, fakeVerificationApp, VERDICT_ID } from "./fake-verification-ports.ts";

const PATH = `/v1/verdicts/${VERDICT_ID}/texts`;

describe("GET /v1/verdicts/{verdict_id}/texts", () => {
  it("shows the submitter what was sent", async () => {
    const response = await fakeVerificationApp().request(PATH, WITH_KEY);
    expect(response.headers.get("cache-control")).toBe("private, no-store");
    expect(await bodyOf<unknown>(response)).toEqual({
      verdict_id: VERDICT_ID,
      spec_text: "Ten rows, please.",
      acceptance_criteria: null,
      output_text: "1 2 3 4 5 6 7 8 9 10",
      evidence: [{ text: "They are ten.", submitted_at: NOW.toISOString() }],
    });
  });

  it.each(["specText", "outputText"] as const)("is 410 once the %s was dropped", async (name) => {
    const { verdicts } = bothPorts();
    const texts = async () => ({ ...(await verdicts.texts(VERDICT_ID)), [name]: null });
    const app = fakeVerificationApp({ verdicts: { ...verdicts, texts } });
    const response = await app.request(PATH, WITH_KEY);
    expect([response.status, (await bodyOf(response)).type]).toEqual([410, "/docs#problem-texts-dropped"]);
  });
});

const DELIVERIES_PATH = `/v1/verdicts/${VERDICT_ID}/deliveries`;

const delivery = (digit: number) => ({
  id: `msg_${String(digit).repeat(32)}`,
  type: "verdict.held",
  state: "pending" as const,
  ...{ createdAt: NOW, deliveredAt: null, nextAttemptAt: NOW },
  body: JSON.stringify({ type: "verdict.held", data: {} }),
  attempts: [{ at: NOW, status: 500, latencyMs: 7, failure: "The endpoint answered 500." }],
});

describe("GET /v1/verdicts/{verdict_id}/deliveries", () => {
  it("shows the submitter what was sent, in pages", async () => {
    const asked: DeliveryPage[] = [];
    const app = fakeVerificationApp({
      verdictDeliveries: async (id, page) => {
        asked.push(page);
        return id === VERDICT_ID ? [delivery(2), delivery(1)] : [];
      },
    });
    const response = await app.request(`${DELIVERIES_PATH}?limit=1&cursor=${delivery(3).id}`, WITH_KEY);
    expect(response.headers.get("cache-control")).toBe("private, no-store");
    expect(await bodyOf<unknown>(response)).toMatchObject({
      verdict_id: VERDICT_ID,
      deliveries: [{ id: delivery(2).id, type: "verdict.held", attempts: [{ status: 500 }] }],
      next_cursor: delivery(2).id,
    });
    expect(asked).toEqual([{ limit: 2, after: delivery(3).id }]);
  });
});
