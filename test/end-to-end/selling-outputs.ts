import { randomUUID } from "node:crypto";
import { decodePaymentResponseHeader, wrapFetchWithPayment } from "@x402/fetch";
import { type Address, createPublicClient, http } from "viem";
import { expect, test } from "vitest";
import { usdCoinAbi } from "../../service/chain/abi/usd-coin.ts";
import { until } from "../support/until.ts";
import { escrowBuyer, jsonRequest, payee, payer, payFetch, type Shop } from "./shop.ts";

const PRICE = 500_000n;
const PATH = "/v1/outputs";

type Submitted = { readonly verdict_id: string; readonly status: string };

/** Declares tests of outputs that are paid for one by one. */
export function describeSoldOutputs({ kit, url, pay, ...shop }: Shop): void {
  test("is queued for half a dollar, by the official client, and answered again for nothing", async () => {
    const before = await kit.received();
    const output = await anOutput();
    const response = await payFetch(url(PATH), jsonRequest("POST", output));
    const report = decodePaymentResponseHeader(response.headers.get("payment-response") ?? "");
    const first = await response.json();
    expect([response.status, report, first]).toMatchObject([200, { success: true }, { status: "pending" }]);
    const again = await fetch(url(PATH), jsonRequest("POST", output, await signed(output)));
    expect([again.status, await again.json()]).toEqual([200, first]);
    expect((await kit.received()) - before).toBe(PRICE);
  });

  test("twenty payments for one output at once make one verdict and one charge", async () => {
    const before = await kit.received();
    const output = await anOutput();
    const headers = await Promise.all(Array.from({ length: 20 }, () => signed(output)));
    const answers = await Promise.all(
      headers.map((own) => fetch(url(PATH), jsonRequest("POST", output, own))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const bodies = await Promise.all(answers.map(async (answer) => (await answer.json()) as Submitted));
    expect(new Set(bodies.map(({ verdict_id }) => verdict_id)).size).toBe(1);
    expect((await kit.received()) - before).toBe(PRICE);
    expect(await verdictsOf(output)).toHaveLength(1);
  });

  test("is paid out of the escrow, whose money goes back to the payer where the panel fails", async () => {
    const [before, had] = [await kit.received(), await balanceOf(payer.address)];
    const output = await anOutput();
    const response = await wrapFetchWithPayment(fetch, escrowBuyer)(url(PATH), jsonRequest("POST", output));
    const { verdict_id } = (await response.json()) as Submitted;
    expect([response.status, (await balanceOf(payer.address)) - had]).toEqual([200, -PRICE]);
    // This worker has no panel: as if one had failed for an hour.
    await kit.db.$client.query("update ahs.verdict set status = 'failed' where id = $1", [verdict_id]);
    await until({ what: "the payer has its money back" }, async () =>
      (await balanceOf(payer.address)) === had ? true : null,
    );
    expect(await kit.received()).toBe(before);
    const again = await wrapFetchWithPayment(fetch, escrowBuyer)(url(PATH), jsonRequest("POST", output));
    expect([again.status, await verdictsOf(output)]).toMatchObject([
      200,
      expect.arrayContaining([
        { id: verdict_id, status: "failed" },
        expect.objectContaining({ status: "pending" }),
      ]),
    ]);
  });

  test("survives a server killed in the middle of its settlement: one charge, and the repeat gets its one verdict", async () => {
    const before = await kit.received();
    const output = await anOutput();
    const headers = { ...(await signed(output)), "idempotency-key": "killed-0123456789abcdef" };
    await shop.killWhileSettling(PATH, jsonRequest("POST", output, headers));
    const [noted] = await verdictsOf(output);
    expect(noted).toMatchObject({ status: "unsettled" });
    await shop.reopen();
    const answer = await until({ what: "the repeat is answered" }, async () => {
      const repeated = await fetch(url(PATH), jsonRequest("POST", output, headers));
      return repeated.status === 200 ? ((await repeated.json()) as Submitted) : null;
    });
    expect(answer.verdict_id).toBe(noted?.id);
    expect(await verdictsOf(output)).toHaveLength(1);
    expect((await kit.received()) - before).toBe(PRICE);
  });

  test("is queued by a worker where no caller asks again after the server was killed", async () => {
    const before = await kit.received();
    const output = await anOutput();
    await shop.killWhileSettling(PATH, jsonRequest("POST", output, await signed(output)));
    kit.startMining(300);
    // As if the time of the request were over.
    await kit.db.$client.query("update ahs.verdict set lease_until = now() where status = 'unsettled'");
    await until({ what: "a worker queues it" }, async () => {
      const [row] = await verdictsOf(output);
      return row !== undefined && row.status !== "unsettled" ? true : null;
    });
    expect((await kit.received()) - before).toBe(PRICE);
  });

  async function anOutput() {
    const spec = { client_addr: payer.address, spec_text: "Count to 3." };
    const registered = await fetch(url("/v1/specs"), jsonRequest("POST", spec));
    const { spec_id } = (await registered.json()) as { spec_id: string };
    return {
      spec_id,
      output_text: `1, 2, 3 ${randomUUID()}`,
      submitter_addr: payer.address,
      provider_addr: payee.address,
    };
  }

  function balanceOf(account: Address): Promise<bigint> {
    return createPublicClient({ transport: http(kit.rpcUrl) }).readContract({
      address: kit.chain.contracts.usdc,
      abi: usdCoinAbi,
      functionName: "balanceOf",
      args: [account],
    });
  }

  function signed(output: object): Promise<Record<string, string>> {
    return pay(PATH, jsonRequest("POST", output));
  }

  async function verdictsOf({ spec_id }: { readonly spec_id: string }) {
    const { rows } = await kit.db.$client.query<{ readonly id: string; readonly status: string }>(
      "select id, status from ahs.verdict where spec_id = $1",
      [spec_id],
    );
    return rows;
  }
}
