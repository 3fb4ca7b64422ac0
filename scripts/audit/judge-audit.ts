import { z } from "zod";

/** Result of an audit, with the text to print. */
type AuditVerdict = {
  readonly kind: "clean" | "vulnerable" | "unknown";
  readonly lines: readonly string[];
};

const counts = z.object({ low: z.int(), moderate: z.int(), high: z.int(), critical: z.int() });

const vulnerability = z.object({
  name: z.string(),
  severity: z.string(),
  range: z.string(),
  via: z.array(z.union([z.string(), z.object({ title: z.string(), url: z.string() })])),
});

/** Output of `npm audit --json` of npm 7 and newer. */
const report = z.object({
  vulnerabilities: z.record(z.string(), vulnerability),
  metadata: z.object({ vulnerabilities: counts }),
});

const SEVERE: ReadonlySet<string> = new Set(["high", "critical"]);

/** Reads the output of `npm audit --json`: advisories are found only where the registry gave a whole report. */
export function judgeAudit(output: string): AuditVerdict {
  const json = parseJson(output);
  const read = report.safeParse(json);
  if (!read.success)
    return {
      kind: "unknown",
      lines: [`audit: the registry gives no advisories (${reasonOf(json)}); nothing is known`],
    };
  const { vulnerabilities, metadata } = read.data;
  const severe = Object.values(vulnerabilities).filter(({ severity }) => SEVERE.has(severity));
  const { low, moderate, high, critical } = metadata.vulnerabilities;
  const total = `audit: ${critical} critical, ${high} high, ${moderate} moderate, ${low} low`;
  if (severe.length === 0 && high + critical === 0) return { kind: "clean", lines: [total] };
  return { kind: "vulnerable", lines: [total, ...severe.map(lineOf)] };
}

function lineOf({ name, severity, range, via }: z.infer<typeof vulnerability>): string {
  const causes = via.map((cause) =>
    typeof cause === "string" ? `by ${cause}` : `${cause.title}: ${cause.url}`,
  );
  return `  ${severity}: ${name} ${range}: ${causes.join("; ")}`;
}

const failure = z.object({ message: z.string() });

/** npm's own word for why there is no report; never more than a line. */
function reasonOf(json: unknown): string {
  const parsed = failure.safeParse(json);
  return parsed.success ? (parsed.data.message.split("\n")[0] ?? "").slice(0, 200) : "npm printed no report";
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // npm was stopped or is missing: there is no report.
    return null;
  }
}
