import type { Address } from "viem";
import { expect, it } from "vitest";
import {
  createBreakingSource,
  type FoundLabels,
  type LabelFailure,
  labelFailure,
} from "../../../../service/reports/labels/label-source.ts";

const WALLET: Address = "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc";
const DOWN = labelFailure("unavailable", "HTTP status 503");
const NONE: FoundLabels = { kind: "labels", labels: [] };

function sourceOf(answers: readonly (FoundLabels | LabelFailure)[], pauseMs = 30_000) {
  let asked = 0;
  const read = async () => answers[Math.min(asked++, answers.length - 1)] ?? DOWN;
  const breaking = createBreakingSource({ provider: "vendor", read }, { failures: 3, pauseMs });
  const outcomes = async (times: number) => {
    const found: string[] = [];
    for (let time = 0; time < times; time += 1) {
      const answer = await breaking.read(WALLET);
      found.push(answer.kind === "failed" ? answer.reason : answer.kind);
    }
    return found;
  };
  return { outcomes, asked: () => asked };
}

it("a provider is left alone after so many failures in a row", async () => {
  const { outcomes, asked } = sourceOf([DOWN]);
  expect(await outcomes(5)).toEqual(["unavailable", "unavailable", "unavailable", "broken", "broken"]);
  expect(asked()).toBe(3);
});

it("an answer in between starts the count anew", async () => {
  const { outcomes, asked } = sourceOf([DOWN, DOWN, NONE, DOWN, DOWN, NONE]);
  expect(await outcomes(6)).not.toContain("broken");
  expect(asked()).toBe(6);
});

it("after the pause one question tries it, and closes the gap or waits again", async () => {
  const { outcomes, asked } = sourceOf([DOWN, DOWN, DOWN, DOWN, NONE], 20);
  await outcomes(3);
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(await outcomes(2)).toEqual(["unavailable", "broken"]);
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(await outcomes(2)).toEqual(["labels", "labels"]);
  expect(asked()).toBe(6);
});
