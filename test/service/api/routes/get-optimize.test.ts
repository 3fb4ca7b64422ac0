import { describe, expect, it } from "vitest";
import { optimizeSchema } from "../../../../service/api/routes/get-optimize.ts";
import { account, callsOf, START } from "../../model/features/histories.ts";
import { bodyOf, fakeApp, WALLET, WALLET_EIP55, WITH_KEY } from "../fake-ports.ts";
import { AS_OF_SECONDS, reportSource } from "../report-source.ts";

const PATH = `/optimize/${WALLET}`;
type Changes = Parameters<typeof fakeApp>[0];
type Bill = { readonly spent: { readonly wei: string }; readonly saving: { readonly wei: string } };

async function optimize(changes: Changes = {}) {
  const fake = fakeApp(changes);
  const response = await fake.app.request(PATH, WITH_KEY);
  return { ...fake, response, body: await bodyOf<Record<string, unknown>>(response) };
}

describe("GET /optimize/{address}", () => {
  it("charges nothing where no change would save money", async () => {
    const { body, keys } = await optimize({ readWallet: async () => reportSource({ calls: [] }) });
    expect([body.charged, body.summary, keys.balance(), keys.states()]).toEqual([
      false,
      "No change would save 0.01 USD a month or more. Nothing was charged.",
      5000,
      [],
    ]);
  });

  it("answers recommendations, and each contract and method with its savings, for five dollars", async () => {
    const { response, body, keys, read } = await optimize();
    expect(response.status).toBe(200);
    expect(optimizeSchema.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      address: WALLET_EIP55,
      methods: [
        {
          selector: "0x12345678",
          method: null,
          calls: 30,
          failures: 2,
          wasted: { eth: "0.00018" },
          overpaid: { wei: "40000000000000" },
          gas_limit: { state: "too_low", samples: 28, p95_used: "70000", suggested_limit: "125000" },
          savings: [{ kind: "set_gas_limit", calls: 1, saves_usd_per_month: 0.2 }],
        },
        { method: "transfer(address,uint256)", calls: 30, failures: 0, savings: [] },
      ],
      other_methods: null,
      totals: { methods: 2, calls: 60, failures: 2, saving: { value_usd: 0.2 }, saves_usd_per_month: 0.2 },
      summary: "1 recommendation saves at most 0.20 USD a month.",
      charged: true,
      recommendations: [{ kind: "set_gas_limit", saves_usd_per_month: 0.2, suggested_gas_limit: "125000" }],
    });
    expect(keys.balance()).toBe(0);
    expect(read).toEqual([WALLET]);
  });

  it("adds up to its totals in wei, those of methods left out included", async () => {
    const steps = Array.from({ length: 700 }, (_, i) => ({
      at: AS_OF_SECONDS - 700 + i,
      to: account(i),
      ok: i % 3 > 0,
      gasUsed: BigInt(21_000 + i),
    }));
    const { body } = await optimize({ readWallet: async () => reportSource({ calls: callsOf(steps) }) });
    const { methods, other_methods, totals } = body as unknown as {
      methods: readonly Bill[];
      other_methods: Bill;
      totals: Bill;
    };
    expect(methods).toHaveLength(500);
    for (const member of ["spent", "saving"] as const) {
      const sum = [...methods, other_methods].reduce((total, bill) => total + BigInt(bill[member].wei), 0n);
      expect(String(sum)).toBe(totals[member].wei);
    }
  });

  it("does not know what was overpaid where receipts were not read", async () => {
    const calls = callsOf([{ at: AS_OF_SECONDS - 60, read: false }]);
    const { body } = await optimize({ readWallet: async () => reportSource({ calls }) });
    expect(body.totals).toMatchObject({ overpaid: null, overpaid_known_calls: 0 });
  });

  it("looks at no call before its window", async () => {
    const calls = callsOf([{ at: START - 86_400 * 200 }]);
    const { body } = await optimize({ readWallet: async () => reportSource({ calls }) });
    expect(body).toMatchObject({ methods: [], totals: { methods: 0, calls: 0, spent: { wei: "0" } } });
  });
});
