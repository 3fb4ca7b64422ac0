import { describe, expect, it } from "vitest";
import { AgentHealth, type AgentHealthOptions } from "../../client/src/agent-health.ts";
import { VerdictPendingError } from "../../client/src/errors.ts";
import type { VerdictView } from "../../service/verification/verdicts/verdict-view.ts";
import { KEY } from "../service/api/fake-ports.ts";
import {
  bothPorts,
  CLIENT,
  fakeBothApp,
  PROVIDER,
  pendingView,
  SPEC_ID,
  VERDICT_ID,
  verdictResult,
  verdictView,
} from "../service/api/verification/fake-verification-ports.ts";
import { panelBudget } from "../support/panel-budget.ts";

const OUTPUT = {
  spec_id: SPEC_ID,
  output_text: "1 2 3",
  submitter_addr: CLIENT,
  provider_addr: PROVIDER,
};

type Changes = Parameters<typeof fakeBothApp>[0];

/** A client whose requests go to an app of this process; `asked` holds their URLs, `slept` its pauses. */
function clientOf(changes: Changes = {}, options: Partial<AgentHealthOptions> = {}) {
  const app = fakeBothApp(changes);
  const asked: string[] = [];
  const slept: number[] = [];
  const client = new AgentHealth(KEY, {
    baseUrl: "https://health.example",
    fetch: async (input, init) => {
      const request = new Request(input, init);
      asked.push(`${request.method} ${request.url}`);
      return app.request(request);
    },
    sleep: async (ms) => void slept.push(ms),
    ...options,
  });
  return { client, asked, slept };
}

/** Ports whose verdict is the next of these at each look; the last one stays. */
function views(...given: readonly VerdictView[]): Changes {
  const left = [...given];
  const { verdicts } = bothPorts();
  const next = () => (left.length > 1 ? left.shift() : left[0]) ?? null;
  return { verdicts: { ...verdicts, find: async () => next() } };
}

describe("verification by the client", () => {
  it("posts an output again, as the service asks, while the caller's outputs take all that it may", async () => {
    const { outputs } = bothPorts();
    const unpaid = [1_000_000_000, 1_000_000_000, 0];
    const budget = {
      ...panelBudget(),
      readOwner: async () => ({ today: 0, paid: 0, unpaid: unpaid.shift() ?? 0 }),
    };
    const { client, slept } = clientOf({ outputs: { ...outputs, budget } });
    expect(await client.verifyOutput(OUTPUT)).toMatchObject({ verdict_id: VERDICT_ID });
    expect(slept).toEqual([30_000, 30_000]);
  });

  it("registers, submits and waits for the verdict", async () => {
    const { client } = clientOf(views(pendingView(), pendingView({ status: "processing" }), verdictView()));
    const { spec_id } = await client.registerSpec({ client_addr: CLIENT, spec_text: "Ten rows." });
    const { verdict_id } = await client.verifyOutput({ ...OUTPUT, spec_id });
    const verdict = await client.waitForVerdict(verdict_id);
    expect(verdict).toMatchObject({
      status: "completed",
      final_verdict: "ALLOW",
      on_chain_action: "complete",
    });
  });

  it("looks less and less often while it waits", async () => {
    const pending = pendingView();
    const { client, slept } = clientOf(views(pending, pending, pending, pending, pending, verdictView()));
    await client.waitForVerdict(VERDICT_ID, { pollMs: 1_000 });
    expect(slept).toEqual([1_000, 1_500, 2_250, 3_375, 5_000]);
  });

  it("answers a verdict that failed as it is", async () => {
    const { client } = clientOf(views(pendingView({ status: "failed", errorMessage: "No model." })));
    expect(await client.waitForVerdict(VERDICT_ID)).toMatchObject({
      status: "failed",
      error_message: "No model.",
      final_verdict: null,
    });
  });

  it("waits for a re-run of a HOLD", async () => {
    const rerun = { cause: "evidence", status: "pending" } as const;
    const held = verdictView({ result: verdictResult({ final_verdict: "HOLD" }), rerun });
    const { client, slept } = clientOf(views(held, verdictView()));
    expect(await client.waitForVerdict(VERDICT_ID)).toMatchObject({ final_verdict: "ALLOW" });
    expect(slept).toHaveLength(1);
  });

  it("gives up after its patience, naming what goes on", async () => {
    const { client, slept } = clientOf(views(pendingView({ status: "processing" })));
    const waiting = client.waitForVerdict(VERDICT_ID, { pollMs: 1_000, patienceMs: 3_000 });
    const error = await waiting.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(VerdictPendingError);
    expect(error).toMatchObject({ verdictId: VERDICT_ID, status: "processing" });
    expect(slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(3_000);
  });

  it("has a failed verdict run again", async () => {
    expect(await clientOf().client.retryVerdict(VERDICT_ID)).toEqual({
      verdict_id: VERDICT_ID,
      status: "pending",
    });
  });

  it("hands in evidence for a HOLD, once however often it is sent", async () => {
    expect(
      await clientOf().client.offerEvidence(VERDICT_ID, { text: "Sources.", final: true }),
    ).toMatchObject({ verdict_id: VERDICT_ID, count: 1 });
  });

  it("reads the evidence's own bytes, where verification is served", async () => {
    const { client, asked } = clientOf({}, { verifyBaseUrl: "https://verify.example" });
    const served = await bothPorts().verdicts.evidence(VERDICT_ID, null);
    expect(new TextDecoder().decode(await client.getEvidence(VERDICT_ID))).toBe(served?.body);
    await client.getEvidence(VERDICT_ID, 1);
    const path = `GET https://verify.example/v1/verdicts/${VERDICT_ID}/evidence`;
    expect(asked).toEqual([path, `${path}?run=1`]);
  });

  it("reads the texts, the deliveries and the receipt", async () => {
    const { client, asked } = clientOf();
    expect(await client.getVerdictDeliveries(VERDICT_ID, { limit: 2 })).toMatchObject({ deliveries: [] });
    expect(asked).toEqual([`GET https://health.example/v1/verdicts/${VERDICT_ID}/deliveries?limit=2`]);
    expect(await client.getReceipt(VERDICT_ID)).toMatchObject({ signature: expect.any(String) });
    expect(await client.getTexts(VERDICT_ID)).toMatchObject({ verdict_id: VERDICT_ID });
  });

  it("asks where verification is served, and for scores where scoring is", async () => {
    const { client, asked } = clientOf({}, { verifyBaseUrl: "https://verify.example/" });
    await client.getVerdict(VERDICT_ID);
    await client.route(PROVIDER);
    expect(asked).toEqual([
      `GET https://verify.example/v1/verdicts/${VERDICT_ID}`,
      `GET https://health.example/ahs/route/${PROVIDER}`,
    ]);
  });

  it("names the unknown verdict that it asked for", async () => {
    const error = await clientOf()
      .client.getVerdict("nothing")
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "NotFoundError", status: 404 });
  });
});
