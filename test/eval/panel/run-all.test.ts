import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { runAll } from "../../../eval/panel/run-all.ts";

test("runs no more at once than it may, and answers in the order of the items", async () => {
  let running = 0;
  let most = 0;
  const results = await runAll([5, 1, 4, 2, 3, 0], 2, async (turns) => {
    running += 1;
    most = Math.max(most, running);
    for (let turn = 0; turn < turns; turn += 1) await setImmediate();
    running -= 1;
    return turns * 10;
  });
  expect(results).toEqual([50, 10, 40, 20, 30, 0]);
  expect(most).toBe(2);
});

test("ends with the first failure", async () => {
  const failing = runAll([1, 2], 2, async (item) => {
    if (item === 2) throw new Error("two");
  });
  await expect(failing).rejects.toThrow("two");
});
