import { expect, test } from "vitest";
import { runChecks, safeReason } from "../../../bin/doctor/run-checks.ts";
import { fine } from "../../../service/check.ts";

const reasonOf = (error: unknown) => String(error);

test("a check that hangs, and one that throws, do not suppress the others, reported in their order", async () => {
  const found = await runChecks(
    [
      { name: "hangs", advice: "look", run: () => new Promise(() => undefined) },
      { name: "throws", advice: "see", run: () => Promise.reject(new Error("no")) },
      { name: "works", advice: "", run: async () => [fine("a"), fine("b")] },
    ],
    { deadlineMs: 50, reasonOf },
  );
  expect(found).toEqual([
    { check: "hangs", level: "fail", detail: "no answer within 0.05 s", advice: "look" },
    { check: "throws", level: "fail", detail: "Error: no", advice: "see" },
    { check: "works", level: "ok", detail: "a", advice: null },
    { check: "works", level: "ok", detail: "b", advice: null },
  ]);
});

test("a reason holds no URL and no secret of the environment, at any place", () => {
  const reason = safeReason({
    DATABASE_URL: "postgres://u:hunter2-hunter2@db:5432/x",
    RPC_URL: "https://node.example/v2/abcdefabcdef0123456789",
    PANEL_API_KEY: "sk-panel-secret",
  });
  const texts = [
    reason(new Error("cannot reach https://node.example/v2/abcdefabcdef0123456789 now")),
    reason(new Error("key sk-panel-secret refused")),
    reason(new Error("password hunter2-hunter2 of u")),
    reason(new Error("fetch failed", { cause: Object.assign(new Error("no"), { code: "ECONNREFUSED" }) })),
  ];
  expect(texts.join("\n")).not.toMatch(/abcdef|sk-panel|hunter2|node\.example/);
  expect(texts[3]).toBe("fetch failed (ECONNREFUSED)");
});
