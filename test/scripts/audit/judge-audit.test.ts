import { expect, test } from "vitest";
import { judgeAudit } from "../../../scripts/audit/judge-audit.ts";

const advisory = (severity: string) => ({
  name: "left-pad",
  severity,
  range: "<1.3.0",
  via: [{ title: "Pads to the right", url: "https://github.com/advisories/GHSA-1" }, "other"],
  nodes: ["node_modules/left-pad"],
});

/** As npm 11 prints it. */
function report(severities: readonly string[]) {
  const count = (name: string) => severities.filter((severity) => severity === name).length;
  const counts = {
    low: count("low"),
    moderate: count("moderate"),
    high: count("high"),
    critical: count("critical"),
  };
  const vulnerabilities = Object.fromEntries(severities.map((severity, i) => [`p${i}`, advisory(severity)]));
  const total = severities.length;
  return JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities,
    metadata: { vulnerabilities: { info: 0, ...counts, total } },
  });
}

test.each([
  [[], "clean"],
  [["low", "moderate"], "clean"],
  [["moderate", "high"], "vulnerable"],
  [["critical"], "vulnerable"],
])("advisories of %j are %s", (severities, kind) => {
  expect(judgeAudit(report(severities)).kind).toBe(kind);
});

test("a severe advisory is named with where to read of it", () => {
  expect(judgeAudit(report(["high", "low"])).lines).toEqual([
    "audit: 0 critical, 1 high, 0 moderate, 1 low",
    "  high: left-pad <1.3.0: Pads to the right: https://github.com/advisories/GHSA-1; by other",
  ]);
});

test.each([
  [
    JSON.stringify({ message: "405 Method Not Allowed - POST https://r\nsecond line", statusCode: 405 }),
    "405 Method",
  ],
  [JSON.stringify({ error: { code: "ENOAUDIT", summary: "x" } }), "npm printed no report"],
  ["", "npm printed no report"],
  ["<html>", "npm printed no report"],
])("a registry without advisories is no clean bill: %s", (output, reason) => {
  const verdict = judgeAudit(output);
  expect(verdict.kind).toBe("unknown");
  expect(verdict.lines.join()).toContain(reason);
  expect(verdict.lines.join()).not.toContain("second line");
});
