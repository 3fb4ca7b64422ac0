import { describe, expect, it } from "vitest";
import { createByteBudgets, dropIdleBuckets } from "../../../service/access/rate-limits.ts";
import { useDatabase } from "../../support/test-database.ts";

const HOUR_MS = 3_600_000;

const db = useDatabase();

/** Two servers on one database, whose clock the test moves. */
function servers() {
  let ms = Date.parse("2026-11-20T10:00:00Z");
  const now = () => new Date(ms);
  return {
    one: createByteBudgets({ db, now }),
    other: createByteBudgets({ db, now }),
    sweep: () => dropIdleBuckets(db, now()),
    pass: (hours: number) => {
      ms += hours * HOUR_MS;
    },
  };
}

describe("a budget of bytes", () => {
  it("holds over all servers, and fills again within a day", async () => {
    const { one, other, pass } = servers();
    const caller = { owner: "a-caller", bytes: 2_400 };
    expect(await one.take([caller], 2_000)).toBeNull();
    expect(await other.take([caller], 401)).toEqual({ budget: caller, retryAfterSeconds: 36 });
    expect(await other.take([caller], 400)).toBeNull();
    pass(1);
    expect(await one.take([caller], 101)).toMatchObject({ budget: caller });
    expect(await one.take([caller], 100)).toBeNull();
    pass(48);
    expect(await one.take([caller], 2_401)).toMatchObject({ budget: caller });
    expect(await one.take([caller], 2_400)).toBeNull();
  });

  it("survives the sweep of idle buckets until it is full again", async () => {
    const { one, pass, sweep } = servers();
    const caller = { owner: "d-caller", bytes: 2_400 };
    expect(await one.take([caller], 2_400)).toBeNull();
    pass(1);
    await sweep();
    expect(await one.take([caller], 101)).toMatchObject({ budget: caller });
    expect(await one.take([caller], 100)).toBeNull();
    pass(49);
    await sweep();
    const { rows } = await db.$client.query("select from ahs.rate_bucket where identity = 'bytes:d-caller'");
    expect(rows).toEqual([]);
  });

  it("takes from all budgets or from none, and names the first that does not reach", async () => {
    const { one } = servers();
    const [caller, total] = [
      { owner: "b-caller", bytes: 100 },
      { owner: "b-total", bytes: 150 },
    ];
    expect(await one.take([caller, total], 100)).toBeNull();
    const second = { owner: "b-second", bytes: 100 };
    expect(await one.take([second, total], 60)).toMatchObject({ budget: total });
    expect(await one.take([second, total], 50)).toBeNull();
    expect(await one.take([second, total], 51)).toMatchObject({ budget: second });
  });

  it("is never overdrawn by requests at once", async () => {
    const { one, other } = servers();
    const total = { owner: "c-total", bytes: 1_000 };
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, place) =>
        (place % 2 === 0 ? one : other).take([{ owner: `c-${place}`, bytes: 1_000 }, total], 100),
      ),
    );
    expect(answers.filter((spent) => spent === null)).toHaveLength(10);
  });
});
