import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { runKeys } from "../../../bin/commands/keys.ts";
import { apiKeyFinder, hashApiKey } from "../../../service/access/api-keys.ts";
import { useDatabase } from "../../support/test-database.ts";

const NOW = new Date("2026-11-20T10:00:00Z");

const db = useDatabase();

async function keys(...args: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  await runKeys(args, {
    db,
    out: (line) => lines.push(line),
    clock: { now: () => NOW },
    entropy: { randomBytes, randomUuid: () => randomUUID() },
  });
  return lines;
}

/** Creates a key and answers its secret, as the last line shows it. */
async function createKey(...args: readonly string[]): Promise<string> {
  const secret = (await keys("create", ...args)).at(-1);
  if (secret === undefined) throw new Error("nothing was printed");
  return secret;
}

async function stored(secret: string) {
  return apiKeyFinder(db)(hashApiKey(secret));
}

describe("ahs keys", () => {
  it("create prints a key that works, once", async () => {
    const lines = await keys("create", "--name", "acme", "--balance-usd", "10", "--expires", "30d");
    const secret = lines.at(-1) ?? "";
    expect(secret).toMatch(/^ahs_[A-Za-z0-9_-]{43}$/);
    expect(lines.filter((line) => line.includes(secret))).toHaveLength(1);
    expect((await keys("list")).join("\n")).not.toContain(secret);
    expect(await stored(secret)).toMatchObject({
      name: "acme",
      partner: false,
      balanceUnits: 10_000,
      expiresAt: new Date("2026-12-20T10:00:00Z"),
      revokedAt: null,
    });
  });

  it.each([
    [["--unlimited"], null],
    [["--balance-usd", "0.25"], 250],
    [["--balance-usd", "1234567.891"], 1_234_567_891],
    [[], 0],
  ] as const)("create with %j holds %s units", async (args, balanceUnits) => {
    const secret = await createKey("--name", "n", ...args);
    expect(await stored(secret)).toMatchObject({ balanceUnits, expiresAt: null });
  });

  it("create --scope allows a key to review, which the list shows", async () => {
    const secret = await createKey("--name", "trust desk", "--scope", "review");
    expect(await stored(secret)).toMatchObject({ scopes: ["review"] });
    expect((await keys("list")).find((line) => line.includes("trust desk"))).toContain("may review");
    await expect(keys("create", "--name", "n", "--scope", "admin")).rejects.toThrow(
      '--scope: expected one of review, got "admin"',
    );
    expect(await stored(await createKey("--name", "n"))).toMatchObject({ scopes: [] });
  });

  it("create --partner names a design partner, --rate how often it may call", async () => {
    const secret = await createKey("--partner", "lab", "--unlimited", "--rate", "6000");
    expect(await stored(secret)).toMatchObject({ name: "lab", partner: true, ratePerMinute: 6000 });
    const line = (await keys("list")).find((shown) => shown.includes("lab"));
    expect(line).toMatch(/lab \(partner\) +unlimited +6000\/min +active/);
  });

  it("create without --rate allows as much as a busy agent needs", async () => {
    expect(await stored(await createKey("--name", "n"))).toMatchObject({ ratePerMinute: 600 });
  });

  it("rotate gives a key whose secret is lost another one, and keeps all else", async () => {
    const lost = await createKey("--partner", "lab", "--balance-usd", "7", "--scope", "review");
    const { id = "", ...before } = (await stored(lost)) ?? {};
    const fresh = (await keys("rotate", id)).at(-1) ?? "";
    expect(await stored(lost)).toBeNull();
    expect(await stored(fresh)).toEqual({ ...before, id, keyPrefix: fresh.slice(0, 12) });
    await keys("revoke", id);
    await expect(keys("rotate", id)).rejects.toThrow("no key that is neither revoked nor expired");
    await expect(keys("rotate", "lab")).rejects.toThrow("rotate takes the id of one key");
  });

  it("revoke stops a key from now on", async () => {
    const secret = await createKey("--name", "leaked", "--unlimited");
    const key = await stored(secret);
    const [line] = await keys("revoke", key?.id ?? "");
    expect(line).toContain(`revoked ${NOW.toISOString()}`);
    expect((await stored(secret))?.revokedAt).toEqual(NOW);
  });

  it("list distinguishes expired from active", async () => {
    await createKey("--name", "short", "--expires", "1h");
    const line = (await keys("list")).find((shown) => shown.includes("short"));
    expect(line).toContain("active until 2026-11-20T11:00:00.000Z");
  });

  it.each([
    [[], "no action"],
    [["make"], 'unknown action "make"'],
    [["create"], "a key needs a name"],
    [["create", "--name", " "], "a key needs a name"],
    [["create", "--partner", ""], "a key needs a name"],
    [["create", "--name", "n", "--partner", "p"], "exclude each other"],
    [["create", "--name", "n", "--rate", "0"], "--rate"],
    [["create", "--name", "n", "--rate", "fast"], 'got "fast"'],
    [["create", "--name", "n", "--balance-usd", "1", "--unlimited"], "exclude each other"],
    [["create", "--name", "n", "--balance-usd", "-1"], "--balance-usd"],
    [["create", "--name", "n", "--balance-usd", "0.0001"], "0.001"],
    [["create", "--name", "n", "--balance-usd", "1e9"], "1e9"],
    [["create", "--name", "n", "--expires", "soon"], "30d"],
    [["create", "--name", "n", "--expires", "0d"], "0d"],
    [["create", "--nmae", "n"], "--nmae"],
    [["list", "all"], "all"],
    [["revoke"], "id of one key"],
    [["revoke", "1"], 'got "1"'],
    [["revoke", "7f1f9c34-3df6-4f0e-8b0e-2f1d8f1c7a11"], "no key has the id"],
  ] as const)("%j is refused with what was expected", async (args, message) => {
    const before = await keys("list");
    await expect(keys(...args)).rejects.toThrow(message);
    expect(await keys("list")).toEqual(before);
  });
});
