import type { Address } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  type AccountFactSource,
  gatherAccountFacts,
} from "../../../../service/ingest/enrich/account-facts.ts";
import { type HistoryFailure, historyFailure } from "../../../../service/ingest/history/history.ts";
import { type EnrichWorld, enrichAll, forgetAll, rowsOf } from "./enrich-world.ts";
import {
  contextWith,
  createFactsWorld,
  FUNDER,
  factsOf,
  ignorant,
  otterscanOf,
  PAYEE,
  readAll,
  SILENT,
  WALLET,
} from "./facts-world.ts";

let world: EnrichWorld;
let funded: number;
let sent: number;

beforeAll(async () => {
  ({ world, funded, sent } = await createFactsWorld());
});
afterAll(() => world.close());
beforeEach(async () => {
  await forgetAll(world);
  await enrichAll(world);
});

describe("with the node's Otterscan methods", () => {
  test("a contract has its creator and its age, an account its first funder and its first own transaction", async () => {
    await readAll(contextWith(world, otterscanOf(world)));
    const [owner] = (await world.chain.rpc.request("eth_accounts")) as [Address];
    expect(await factsOf(world, world.chain.contracts.keeperTarget1)).toMatchObject({
      has_code: true,
      creator: owner,
      first_funder: null,
      existed_block: expect.stringMatching(/^\d+$/),
      source: "otterscan",
    });
    expect(await factsOf(world, PAYEE)).toMatchObject({
      has_code: false,
      creator: null,
      first_funder: FUNDER,
      existed_block: String(sent),
    });
    expect(sent).toBeGreaterThan(funded);
    expect(await factsOf(world, SILENT)).toMatchObject({
      has_code: false,
      first_funder: null,
      existed_at: null,
    });
  });

  test("creators and first funders are read as well, one step", async () => {
    await readAll(contextWith(world, otterscanOf(world)));
    expect(await factsOf(world, FUNDER)).toMatchObject({ has_code: false, existed_block: String(funded) });
    const rows = await rowsOf(world, "account_fact");
    const [owner] = (await world.chain.rpc.request("eth_accounts")) as [Address];
    const { keeperTarget1 } = world.chain.contracts;
    expect(new Set(rows.map(({ address }) => address))).toEqual(
      new Set([WALLET, PAYEE, SILENT, FUNDER, owner, keeperTarget1.toLowerCase()]),
    );
  });
});

test("without a source stores the code and the facts from contacts", async () => {
  await readAll(contextWith(world, null));
  const contacts = (await rowsOf(world, "contact")).filter((row) => row.account === WALLET);
  const first = Math.min(...contacts.map((row) => Number(row.first_block)));
  expect(await factsOf(world, WALLET)).toMatchObject({
    has_code: false,
    creator: null,
    first_funder: null,
    existed_block: String(first),
    source: "index",
  });
  expect(await factsOf(world, world.chain.contracts.keeperTarget1)).toMatchObject({
    has_code: true,
    creator: null,
  });
});

describe("a source in trouble", () => {
  /** A source that fails for some or all accounts, and answers about the others. */
  function failing(
    reason: HistoryFailure["reason"],
    of: readonly Address[] | "all",
    asked: Address[] = [],
  ): AccountFactSource {
    const known = {
      kind: "facts",
      creator: null,
      firstFunder: null,
      existed: { block: 1, timestamp: 1 },
    } as const;
    return {
      name: "failing",
      read: async ({ address }) => {
        asked.push(address);
        return of === "all" || of.includes(address) ? historyFailure(reason, "as the test wishes") : known;
      },
    };
  }

  /** Accounts that wallets of their own wait for, so that no wallet's share is used up; they come before all others. */
  async function waitFor(accounts: readonly Address[]): Promise<void> {
    for (const account of accounts)
      await world.client.query("insert into ahs.pending_fact values (31337, $1, $1, false, 0, 0, true)", [
        account,
      ]);
  }

  const accounts = (count: number) =>
    Array.from({ length: count }, (_, index): Address => `0x00${index.toString(16).padStart(38, "0")}`);

  test("stores nothing of accounts that it did not answer for, and is asked again", async () => {
    const context = contextWith(world, failing("unavailable", "all"));
    expect(await gatherAccountFacts(context)).toMatchObject({
      more: false,
      failure: { reason: "unavailable" },
    });
    expect(await rowsOf(world, "account_fact")).toEqual([]);
    context.at.ms = 60_000;
    await readAll({ ...context, source: ignorant() });
    expect(await rowsOf(world, "account_fact")).toHaveLength(4);
  });

  test("that answers for no account is not asked for all that wait", async () => {
    await waitFor(accounts(20));
    const asked: Address[] = [];
    const { failure } = await gatherAccountFacts(contextWith(world, failing("timeout", "all", asked)));
    expect(failure).toMatchObject({ reason: "timeout" });
    expect(asked.length).toBeLessThan(12);
  });

  test.each(["timeout", "unavailable"] as const)(
    "%s for one account holds up no other, and from the second time in a row on it is left alone for longer",
    async (reason) => {
      const asked: Address[] = [];
      const context = contextWith(world, failing(reason, [PAYEE], asked));
      const timesAsked = async (ms: number) => {
        context.at.ms = ms;
        // An account that the source answers about.
        await world.client.query("delete from ahs.account_fact where address = $1", [SILENT]);
        await world.client.query(
          `insert into ahs.pending_fact values (31337, $1, $2, false, 0, 0, true)
           on conflict (chain_id, address, wallet) do update set due_at = 0`,
          [SILENT, WALLET],
        );
        expect(await gatherAccountFacts(context)).toMatchObject({ failure: null });
        return asked.filter((address) => address === PAYEE).length;
      };
      expect(await timesAsked(0)).toBe(1);
      expect(await rowsOf(world, "account_fact")).toHaveLength(3);
      expect(await timesAsked(59_999)).toBe(1);
      expect(await timesAsked(60_000)).toBe(2);
      expect(await timesAsked(659_999)).toBe(2);
      expect(await timesAsked(660_000)).toBe(3);
      expect(await timesAsked(1_859_999)).toBe(3);
      expect(await timesAsked(1_860_000)).toBe(4);
    },
  );

  test("for more accounts than are tried at once delays no other either", async () => {
    const poison = accounts(20);
    await waitFor(poison);
    const context = contextWith(world, failing("timeout", poison));
    for (let pass = 0; pass < 4; pass += 1) await gatherAccountFacts(context);
    expect(await rowsOf(world, "account_fact")).toHaveLength(4);
  });

  test("that wants a pause gets it at once, and an account that always causes this delays no other", async () => {
    const asked: Address[] = [];
    const [poison] = accounts(1) as [Address];
    await waitFor(accounts(20));
    const context = contextWith(world, failing("rate_limited", [poison], asked));
    expect(await gatherAccountFacts(context)).toMatchObject({ failure: { reason: "rate_limited" } });
    expect(asked.length - asked.indexOf(poison)).toBeLessThan(5);
    expect(await gatherAccountFacts(context)).toMatchObject({ failure: null });
    expect(await rowsOf(world, "account_fact")).toHaveLength(23);
  });

  test("that answers nonsense for one account holds up no other, and is asked for that one again in ten minutes", async () => {
    const asked: Address[] = [];
    const context = contextWith(world, failing("malformed", [PAYEE], asked));
    await readAll(context);
    expect(await factsOf(world, PAYEE)).toBeUndefined();
    expect(await rowsOf(world, "account_fact")).toHaveLength(3);
    await readAll(context);
    expect(asked.filter((address) => address === PAYEE)).toHaveLength(1);
    context.at.ms = 600_000;
    await readAll(context);
    expect(asked.filter((address) => address === PAYEE)).toHaveLength(2);
  });
});

test("nothing is stored of a chain that was replaced while it was asked", async () => {
  const source = ignorant();
  const replaced: AccountFactSource = {
    ...source,
    read: async (account, signal) => {
      await world.db.$client.query("update ahs.chain_mark set generation = 'second'");
      return source.read(account, signal);
    },
  };
  await gatherAccountFacts(contextWith(world, replaced));
  expect(await rowsOf(world, "account_fact")).toEqual([]);
});
