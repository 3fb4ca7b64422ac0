import { expect, test } from "vitest";
import { judgeSchemes } from "../../../service/access/checks.ts";

test.each([
  [[], "ok"],
  [[{ scheme: "upto", hasCode: true }], "ok"],
  [[{ scheme: "upto", hasCode: false }], "fail"],
])("schemes %j are %s", (schemes, level) => {
  expect(judgeSchemes(schemes)).toMatchObject([{ level }]);
});
