import { expect, it, vi } from "vitest";
import { judgeTokens } from "../../../../service/verification/checks.ts";
import { awaitTokenFinding, onceKnown } from "../../../../service/verification/panel/await-token-finding.ts";
import type { TokenFinding } from "../../../../service/verification/panel/find-read-token.ts";

const READ: TokenFinding = { kind: "read", token: "<|turn>" };
const DOWN: TokenFinding = { kind: "unavailable", detail: "HTTP status 503", answersOthers: false };
const REFUSING: TokenFinding = { ...DOWN, answersOthers: true };

/** Waits for the findings in turn, the last of them for ever; answers how often it asked and what it warned of. */
async function wait(findings: readonly TokenFinding[], mayRead = false) {
  const warnings: string[] = [];
  const find = vi.fn(async () => findings[find.mock.calls.length - 1] ?? READ);
  const logger = { info: () => undefined, warn: (_: object, words: string) => void warnings.push(words) };
  const deps = { logger, mayRead, find, retryMs: { first: 1, longest: 1 } };
  await awaitTokenFinding({ model: "m" }, deps as never, new AbortController().signal);
  return { asked: find.mock.calls.length, warnings };
}

it("starts the panel on a model whose server reads no control token", async () => {
  expect(await wait([{ kind: "unread" }])).toEqual({ asked: 1, warnings: [] });
});

it("does not start it on one that reads one, unless that is allowed", async () => {
  await expect(wait([READ])).rejects.toThrow(
    "the panel does not start: the server of the model m reads the control token <|turn> within messages",
  );
  expect((await wait([READ], true)).warnings).toEqual([
    "the model's server reads control tokens: the fence alone breaks them",
  ]);
});

it("waits for a server that does not answer, and believes no failure of it", async () => {
  const { asked, warnings } = await wait([...Array.from({ length: 9 }, () => DOWN), { kind: "unread" }]);
  expect([asked, warnings.length]).toEqual([10, 9]);
  await expect(wait([DOWN, DOWN, READ])).rejects.toThrow("does not start");
});

it("starts with a warning where it is not known, also if messages with tokens are refused again and again", async () => {
  const unknown = await wait([{ kind: "unknown", detail: "no usage" }]);
  expect(unknown.warnings).toEqual([expect.stringMatching(/^not known .*texts may open turns/)]);
  const refused = await wait(Array.from({ length: 9 }, () => REFUSING));
  expect(refused.asked).toBe(5);
  expect(refused.warnings.at(-1)).toContain("texts may open turns");
});

it("doctor says for each model what was found", () => {
  const level = (finding: TokenFinding, mayRead = false) =>
    judgeTokens(finding, { model: "m", mayRead }).level;
  expect(level({ kind: "unread" })).toBe("ok");
  expect(level(READ)).toBe("fail");
  expect(level(READ, true)).toBe("warn");
  expect(level({ kind: "unknown", detail: "no usage" })).toBe("warn");
  expect(level(DOWN)).toBe("warn");
  expect(judgeTokens(READ, { model: "m", mayRead: false }).detail).toBe(
    "m: the control token <|turn> is read",
  );
});

it("lets runs fail for now before anything is known of the models", async () => {
  const state = { isKnown: false };
  const panel = onceKnown(
    () => state.isKnown,
    async () => ({ kind: "failed", message: "ran", retryable: false }),
  );
  const run = () => panel(...([{}, {}] as unknown as Parameters<typeof panel>));
  expect(await run()).toMatchObject({ kind: "failed", retryable: true });
  state.isKnown = true;
  expect(await run()).toMatchObject({ message: "ran" });
});
