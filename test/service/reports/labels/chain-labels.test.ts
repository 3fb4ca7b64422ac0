import { expect, it } from "vitest";
import { isLookalikeName } from "../../../../service/reports/labels/chain-labels.ts";

it.each([
  ["Cyrillic letters in a Latin name", "Соinbase", true],
  ["one Greek letter in a Latin name", "Uniswαp", true],
  ["a Latin word beside a Cyrillic one", "Agent Смит", true],
  ["nothing but Cyrillic lookalikes", "Аррӏе", true],
  ["nothing but Greek lookalikes", "ΒΙΝΑΝΤΕΧ", true],
  ["a Latin name", "Coinbase", false],
  ["a Latin name with accents", "Agência São Paulo", false],
  ["a Cyrillic name", "Платёжный агент 7", false],
  ["a Cyrillic name of letters that are like Latin ones only as capitals", "сервер", false],
  ["a Greek name", "Πληρωμές", false],
  ["a Chinese name", "支付代理", false],
  ["digits alone", "404", false],
])("%s: %s", (_case, name, expected) => {
  expect(isLookalikeName(name)).toBe(expected);
});
