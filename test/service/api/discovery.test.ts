import { keccak256, stringToHex, zeroHash } from "viem";
import { describe, expect, it } from "vitest";
import { createEpochLists, epochSchema } from "../../../service/api/routes/get-epochs.ts";
import { merkleTree, verifyMerkleProof } from "../../../service/chain/oracle-merkle.ts";
import { fakeApp, WALLET } from "./fake-ports.ts";

describe("GET /evidence/{kind}/{hash}", () => {
  const document = '{"value":82,"tag1":"ahs"}';
  const hash = keccak256(stringToHex(document));
  const { app } = fakeApp({
    evidence: async (kind, asked) => (kind === "feedback" && asked === hash ? document : null),
  });

  it("answers the bytes that were hashed, for ever", async () => {
    const response = await app.request(`/evidence/feedback/${hash}`);
    expect([response.status, await response.text()]).toEqual([200, document]);
    expect(response.headers.get("cache-control")).toContain("immutable");
  });

  it("is 404 for another hash, 422 for none", async () => {
    expect((await app.request(`/evidence/feedback/${zeroHash}`)).status).toBe(404);
    expect((await app.request(`/evidence/validation/${hash}`)).status).toBe(404);
    expect((await app.request(`/evidence/others/${hash}`)).status).toBe(422);
    expect((await app.request("/evidence/feedback/0x12")).status).toBe(422);
  });
});

describe("GET /inputs/{hash}", () => {
  const file = { version: "AHS-2026.0", weights: { b: 1, a: 2 } };
  const canonical = '{"version":"AHS-2026.0","weights":{"a":2,"b":1}}';
  const hash = keccak256(stringToHex(canonical));
  const { app } = fakeApp({ inputFile: async (wanted) => (wanted === hash ? file : undefined) });

  it.each([hash, `0x${hash.slice(2).toUpperCase()}`])(
    "answers bytes whose keccak256 is %s",
    async (asked) => {
      const response = await app.request(`/inputs/${asked}`);
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
      const text = await response.text();
      expect([text, keccak256(stringToHex(text))]).toEqual([canonical, hash]);
    },
  );

  it("is 404 for a hash that commits to nothing here", async () => {
    expect((await app.request(`/inputs/${zeroHash}`)).status).toBe(404);
  });

  it("is 422 for what is no hash", async () => {
    expect((await app.request("/inputs/0x12")).status).toBe(422);
  });
});

describe("GET /epochs/{epoch}", () => {
  const others = Array.from({ length: 6 }, (_, index) => `0x${String(index + 1).repeat(40)}` as const);
  const leaves = [WALLET, ...others].map((wallet, index) => ({
    wallet,
    record: `0x${index.toString(16).padStart(64, "0")}` as const,
  }));
  const { root } = merkleTree(leaves);
  const stored = { root, leaves, createdAt: new Date("2026-11-20T02:00:00.000Z") };

  function source(calls: string[] = []) {
    return {
      async root(epoch: number) {
        return epoch === 20777 ? root : null;
      },
      async stored(epoch: number) {
        calls.push(`stored ${epoch}`);
        return stored;
      },
    };
  }

  it("answers every wallet with a proof that leads to the root", async () => {
    const { app } = fakeApp({ epochList: createEpochLists(source()) });
    const response = await app.request("/epochs/20777");
    const list = epochSchema.parse(await response.json());
    expect([response.status, list.epoch, list.root, list.leaves.length]).toEqual([200, 20777, root, 7]);
    for (const [index, leaf] of leaves.entries()) {
      const shown = list.leaves[index];
      expect([shown?.wallet.toLowerCase(), shown?.record]).toEqual([leaf.wallet, leaf.record]);
      const proof = (shown?.proof ?? []).map((hash) => `0x${hash.slice(2)}` as const);
      expect(verifyMerkleProof(leaf, proof, root)).toBe(true);
    }
  });

  it("makes the proofs of an epoch once", async () => {
    const calls: string[] = [];
    const { app } = fakeApp({ epochList: createEpochLists(source(calls)) });
    await Promise.all([app.request("/epochs/20777"), app.request("/epochs/20777")]);
    await app.request("/epochs/20777");
    expect(calls).toEqual(["stored 20777"]);
  });

  it("tries again after a failure", async () => {
    let broken = true;
    const { app } = fakeApp({
      epochList: createEpochLists({
        root: async () => root,
        stored: async () => {
          if (broken) throw new Error("once");
          return stored;
        },
      }),
    });
    const first = await app.request("/epochs/20777");
    broken = false;
    expect([first.status, (await app.request("/epochs/20777")).status]).toEqual([500, 200]);
  });

  it("is 404 for an epoch that was never published", async () => {
    const { app } = fakeApp({ epochList: createEpochLists(source()) });
    expect((await app.request("/epochs/1")).status).toBe(404);
  });

  it.each(["-1", "x", "1.5", "9".repeat(16)])("is 422 for %s", async (epoch) => {
    expect((await fakeApp().app.request(`/epochs/${epoch}`)).status).toBe(422);
  });
});
