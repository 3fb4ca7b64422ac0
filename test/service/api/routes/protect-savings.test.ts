import { describe, expect, it } from "vitest";
import type { ProtectAnswer } from "../../../../service/api/routes/get-agent-protect.ts";
import type { OwnCall } from "../../../../service/model/features/types.ts";
import { account, callsOf, GWEI, type Step } from "../../model/features/histories.ts";
import { bodyOf, fakeApp, fakeLedger, WALLET, WITH_KEY } from "../fake-ports.ts";
import { AS_OF_SECONDS, reportSource } from "../report-source.ts";
import { fakeRecovery } from "./fake-recovery.ts";

async function ask<Answer>(path: string, calls: readonly OwnCall[]): Promise<Answer> {
  const { app } = fakeApp(
    {
      readWallet: async () => reportSource({ calls, approvals: [] }),
      recovery: fakeRecovery({}, { failures: [] }),
    },
    fakeLedger({ balanceUnits: 25_000 }),
  );
  return bodyOf<Answer>(await app.request(`${path}/${WALLET}`, WITH_KEY));
}

const calling = (step: Partial<Step>) => callsOf([{ at: AS_OF_SECONDS - 3_600, to: account(0xd1), ...step }]);
const optimizeOf = ({ services }: ProtectAnswer) => services.find(({ name }) => name === "optimize");

describe("savings in a protection at a low risk", () => {
  it("are named where nothing failed, but calls paid above the market", async () => {
    const answer = await ask<ProtectAnswer>("/agent/protect", calling({ gasPrice: 90n * GWEI }));
    expect(answer.risk_level).toBe("LOW");
    expect(optimizeOf(answer)).toMatchObject({
      ran: true,
      reason: expect.stringMatching(/^wei of fees wasted or known to be overpaid: [1-9]/),
    });
    expect(answer.steps).toMatchObject([{ service: "optimize", action: "pay_market_price" }]);
    expect(JSON.stringify(answer)).toMatch(/"(monthly_saving_usd|saves_usd_per_month)":[0-9.]*[1-9]/);
  });

  it("are not looked for where there are none, and the reason is true", async () => {
    expect(optimizeOf(await ask<ProtectAnswer>("/agent/protect", calling({})))).toMatchObject({
      ran: false,
      reason: "the risk is LOW and there is nothing of it: wei of fees wasted or known to be overpaid: 0",
    });
  });
});
