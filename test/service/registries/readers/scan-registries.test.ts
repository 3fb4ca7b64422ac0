import { beforeEach, describe, expect, test } from "vitest";
import { NodeFailure } from "../../../../service/chain/node/failure.ts";
import { forFile } from "../../../support/test-database.ts";
import {
  CELO,
  createReportWorld,
  erc8004Agent,
  FINAL,
  nodeWith,
  OLAS,
  olasService,
  walletOf,
} from "../nightly/report-world.ts";

const world = await forFile(createReportWorld);
beforeEach(() => world.clear());

describe("registries", () => {
  test("are read to the last final block, and their wallets asked to be followed", async () => {
    const node = nodeWith([...olasService(1, 5), ...olasService(2, 700), ...olasService(3, FINAL + 1)]);
    await world.follow(walletOf(2));
    const report = await world.scan({ ...world.withRegistries([OLAS]), openReader: () => node });
    expect(report.registries[1]).toEqual({
      ...{ registry: OLAS.address.toLowerCase(), name: "olas", block: FINAL, fault: null },
      ...{ agents: 2, newAgents: 2, newWallets: 1 },
    });
    expect(node.asked.map(({ from, to }) => [from, to])).toEqual([
      [1, 500],
      [501, FINAL],
    ]);
    expect(await world.agents()).toEqual([
      { id: 1, wallet: walletOf(1), name: null, block: 5 },
      { id: 2, wallet: walletOf(2), name: null, block: 700 },
    ]);
    expect(await world.enrolments()).toEqual([{ wallet: walletOf(1), cause: "registry" }]);
    const again = await world.scan({ ...world.withRegistries([OLAS]), openReader: () => node });
    expect(again.registries[1]).toMatchObject({ agents: 2, newAgents: 0, newWallets: 0 });
    expect(node.asked).toHaveLength(2);
  });

  test("name their agents by the document in a data: URI, and ask once for a wallet of several", async () => {
    const [followed, fresh] = [walletOf(1), walletOf(2)];
    const inline = (text: string) => `data:application/json,${encodeURI(text)}`;
    const node = nodeWith([
      ...erc8004Agent({ id: 0, block: 5, wallet: followed, uri: inline('{"name":"Courier"}') }),
      ...erc8004Agent({ id: 1, block: 6, wallet: fresh, uri: inline('{"name":"Scout"') }),
      ...erc8004Agent({ id: 2, block: 7, wallet: fresh, uri: "https://a.example/agent.json" }),
      ...olasService(2, 8),
    ]);
    await world.follow(followed);
    await world.scan({ ...world.withRegistries([CELO, OLAS]), openReader: () => node });
    expect(await world.agents()).toEqual([
      { id: 2, wallet: fresh, name: null, block: 8 },
      { id: 0, wallet: followed, name: "Courier", block: 5 },
      { id: 1, wallet: fresh, name: null, block: 6 },
      { id: 2, wallet: fresh, name: null, block: 7 },
    ]);
    expect(await world.enrolments()).toEqual([{ wallet: fresh, cause: "registry" }]);
  });

  test("take only a wallet that acted itself for that of an agent", async () => {
    const node = nodeWith([1, 2, 3, 4].flatMap((id) => olasService(id, id)));
    const receipt: typeof node.receipt = async (hash) => {
      const made = await node.receipt(hash);
      const unmade = made && { ...made, logs: [] };
      switch (Number(hash)) {
        // With a Safe of others, which the registry takes as it is.
        case 2:
          return unmade;
        case 3:
          return unmade && { ...unmade, from: walletOf(3) };
        case 4:
          return (
            made && { ...made, logs: made.logs.map((log) => ({ ...Object(log), address: walletOf(9) })) }
          );
        default:
          return made;
      }
    };
    const changes = { ...world.withRegistries([OLAS]), openReader: () => ({ ...node, receipt }) };
    expect((await world.scan(changes)).registries[1]).toMatchObject({ agents: 4, fault: null });
    expect((await world.agents()).map(({ id, wallet }) => [id, wallet])).toEqual([
      [1, walletOf(1)],
      [2, null],
      [3, walletOf(3)],
      [4, null],
    ]);
    await world.clear();
    const forgetful = { ...node, receipt: async () => null };
    const stopped = await world.scan({ ...changes, openReader: () => forgetful });
    expect(stopped.registries[1]).toMatchObject({
      agents: 0,
      fault: "the node does not hold these blocks yet",
    });
  });

  test("that fail spoil their own line alone, and go on where they stood", async () => {
    const node = nodeWith(olasService(1, 5));
    let isDown = true;
    const shaky: typeof node.logs = async (filter) => {
      const isOther = filter.addresses?.[0] === CELO.address.toLowerCase();
      if (isOther || (isDown && filter.from > 500)) throw new NodeFailure("unreachable", "no answer");
      return node.logs(filter);
    };
    const changes = { ...world.withRegistries([CELO, OLAS]), openReader: () => ({ ...node, logs: shaky }) };
    expect((await world.scan(changes)).registries).toMatchObject([
      { block: FINAL, fault: null },
      { name: "another", agents: 0, block: null, fault: "the node did not answer" },
      { name: "olas", agents: 1, newAgents: 1, newWallets: 1, block: 500, fault: "the node did not answer" },
    ]);
    isDown = false;
    expect((await world.scan(changes)).registries[2]).toMatchObject({
      agents: 1,
      newAgents: 0,
      block: FINAL,
      fault: null,
    });
  });

  test("of ten thousand agents cost few requests of a node that refuses large answers, and end within the bound", async () => {
    const logs = Array.from({ length: 10_000 }, (_, id) =>
      olasService(id, 1 + Math.floor(id / 11)).slice(0, id % 50 === 0 ? 2 : 1),
    ).flat();
    const node = nodeWith(logs);
    let most = 0;
    const strict: typeof node.logs = async (filter) => {
      const found = await node.logs(filter);
      if (found.length > 2_000)
        throw new NodeFailure("too_many_results", "query returned more than 2000 results");
      most = Math.max(most, found.length);
      return found;
    };
    const changes = { ...world.withRegistries([OLAS]), openReader: () => ({ ...node, logs: strict }) };
    const { registries } = await world.scan(changes);
    expect(registries[1]).toMatchObject({ agents: 10_000, newWallets: 100, fault: null });
    expect(node.asked.length).toBeLessThan(40);
    expect(most).toBeLessThanOrEqual(2_000);
    await world.clear();
    const limits = {
      ...world.deps.limits,
      registries: { maxBlocks: 100, maxLogs: 500, maxRequests: 5, maxMs: 60_000 },
    };
    const bounded = await world.scan({
      ...changes,
      limits: { documents: { maxMs: 0, stallMs: 0, pollMs: 0 }, ...limits },
    });
    expect(bounded.registries[1]?.fault).toMatch(
      /^what one scan may ask for is used up; the next goes on at block \d+$/,
    );
  });

  test("are neither lost nor doubled by a scan that dies after any range, or reads beside another", async () => {
    const node = nodeWith(Array.from({ length: 40 }, (_, id) => olasService(id, 1 + 25 * id)).flat());
    const whole = { ...world.withRegistries([OLAS]), openReader: () => node };
    const small = { maxBlocks: 100, maxLogs: 500, maxRequests: 50, maxMs: 60_000 };
    const limits = { registries: small, documents: { maxMs: 0, stallMs: 0, pollMs: 0 } };
    for (const living of [1, 2, 3]) {
      let left = living;
      const mortal: typeof node.logs = async (filter) => {
        if (left-- === 0) throw new Error("killed");
        return node.logs(filter);
      };
      // Whatever a registry's reading throws is a fault of its own line, and what it stored before stays.
      const cut = await world.scan({ ...whole, limits, openReader: () => ({ ...node, logs: mortal }) });
      expect(cut.registries[1]?.fault).not.toBeNull();
    }
    const beside = await Promise.allSettled([
      world.scan({ ...whole, limits }),
      world.scan({ ...whole, limits }),
    ]);
    expect(beside.map(({ status }) => status)).toContain("fulfilled");
    expect((await world.scan({ ...whole, limits })).registries[1]).toMatchObject({ agents: 40, fault: null });
    expect((await world.agents()).map(({ id, block }) => [id, block])).toEqual(
      Array.from({ length: 40 }, (_, id) => [id, 1 + 25 * id]),
    );
  });

  test("answers of another contract or of other blocks are not believed", async () => {
    const lying = async () => olasService(1, FINAL + 5);
    const { registries } = await world.scan({
      ...world.withRegistries([OLAS]),
      openReader: () => ({ ...nodeWith([]), logs: lying }),
    });
    expect(registries[1]).toMatchObject({
      agents: 0,
      block: null,
      fault: "the node answered with logs outside the request",
    });
  });

  test("are read as deep as the deployment wants, where the index takes less for final", async () => {
    const node = nodeWith([...olasService(1, 5), ...olasService(2, FINAL - 5)]);
    const { deployment } = world.withRegistries([OLAS]);
    const deeper = { deployment: { ...deployment, finalityBlocks: 20 }, openReader: () => node };
    expect((await world.scan(deeper)).registries).toMatchObject([
      { block: FINAL - 10 },
      { agents: 1, block: FINAL - 10, fault: null },
    ]);
  });

  describe("with a block whose logs the node refuses", () => {
    const full = [...olasService(2, 700), ...olasService(3, 700)];
    const node = nodeWith([...olasService(1, 5), ...full, ...olasService(4, 900)]);
    const tooMany = async (): Promise<never> => {
      throw new NodeFailure("too_many_results", "query exceeds max results");
    };
    const logs: typeof node.logs = async (filter) =>
      filter.from <= 700 && filter.to >= 700 ? tooMany() : node.logs(filter);
    const scanWith = async (client: Partial<typeof node>) => {
      const openReader = () => ({ ...node, logs, ...client });
      return (await world.scan({ ...world.withRegistries([OLAS]), openReader })).registries[1];
    };

    test("go on by its receipts", async () => {
      expect(await scanWith({})).toMatchObject({ agents: 4, block: FINAL, fault: null });
    });

    test("step over it, and name it, where its receipts are too many as well", async () => {
      expect(await scanWith({ blockReceipts: tooMany })).toMatchObject({
        ...{ agents: 2, block: FINAL },
        fault: "left out for good, since no answer of the node has room for them: blocks 700",
      });
      expect(await scanWith({ blockReceipts: tooMany })).toMatchObject({ agents: 2, fault: null });
    });

    test("name it beside what else fails", async () => {
      const frail: typeof node.logs = async (filter) => {
        if (filter.from > 700) throw new NodeFailure("unreachable", "no answer");
        return logs(filter);
      };
      expect((await scanWith({ blockReceipts: tooMany, logs: frail }))?.fault).toBe(
        "the node did not answer; left out for good, since no answer of the node has room for them: blocks 700",
      );
    });

    test.each([
      ["is slow", { blockReceipts: () => Promise.reject(new NodeFailure("timeout", "slow")) }],
      ["has no receipts yet", { blockReceipts: async () => null as never }],
      [
        "answers nothing else either",
        {
          blockReceipts: tooMany,
          header: () => Promise.reject(new NodeFailure("rate_limited", "slow down")),
        },
      ],
      ["claims that every block is too full", { blockReceipts: tooMany, logs: tooMany }],
    ] as [string, Partial<typeof node>][])("wait for a node that %s", async (_what, client) => {
      const reading = await scanWith(client);
      expect(reading?.fault).toMatch(/^the node/);
      expect(reading?.block).toBeLessThan(700);
    });
  });
});
