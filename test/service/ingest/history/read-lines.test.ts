import fc from "fast-check";
import { expect, test } from "vitest";
import { readLines } from "../../../../service/ingest/history/read-lines.ts";

const NEVER = new AbortController().signal;
const LIMITS = { idleMs: 1_000, longestMs: 10_000, maxBytes: 10_000, maxLine: 1_000 };

function bodyOf(pieces: readonly Uint8Array[], end: "close" | "break" | "stall" = "close") {
  const rest = [...pieces];
  return {
    body: new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        const next = rest.shift();
        if (next !== undefined) controller.enqueue(Uint8Array.from(next));
        else if (end === "close") controller.close();
        else if (end === "break") controller.error(new TypeError("terminated"));
      },
    }),
  };
}

async function linesOf(body: ReturnType<typeof bodyOf>, limits = LIMITS, signal = NEVER) {
  const lines: string[] = [];
  for await (const line of readLines(body, limits, signal))
    lines.push(typeof line === "string" ? line : line.reason);
  return lines;
}

const bytes = (text: string) => new TextEncoder().encode(text);

test("gives the lines of a body, wherever its pieces end", async () => {
  const lines = fc.array(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).map((text) => JSON.stringify(text)),
  );
  await fc.assert(
    fc.asyncProperty(lines, fc.integer({ min: 1, max: 50 }), fc.boolean(), async (texts, size, isEnded) => {
      const whole = bytes(texts.join("\n") + (isEnded ? "\n\n" : ""));
      const count = Math.ceil(whole.length / size);
      const pieces = Array.from({ length: count }, (_, at) => whole.subarray(at * size, (at + 1) * size));
      expect(await linesOf(bodyOf(pieces))).toEqual(texts);
    }),
    { numRuns: 50 },
  );
});

test.each([
  ["breaks off", bodyOf([bytes("1\n2")], "break"), LIMITS, ["1", "unavailable"]],
  ["ends within a line", bodyOf([bytes("1\n[2")]), LIMITS, ["1", "unavailable"]],
  ["stalls", bodyOf([bytes("1\n2")], "stall"), { ...LIMITS, idleMs: 10 }, ["1", "timeout"]],
  ["is not UTF-8", bodyOf([bytes("1\n"), Uint8Array.of(0xff)]), LIMITS, ["1", "malformed"]],
  ["has a long line", bodyOf([bytes("1\n22222")]), { ...LIMITS, maxLine: 4 }, ["1", "malformed"]],
  ["is long", bodyOf([bytes("1\n"), bytes("2\n"), bytes("3\n")]), { ...LIMITS, maxBytes: 3 }, ["1", "2"]],
  ["takes long", bodyOf([bytes("1\n"), bytes("2\n")]), { ...LIMITS, longestMs: -1 }, ["1"]],
])("stops where a body %s", async (_title, body, limits, expected) => {
  expect(await linesOf(body, limits)).toEqual(expected);
});

test("stops when the signal fires", async () => {
  expect(await linesOf(bodyOf([], "stall"), LIMITS, AbortSignal.timeout(10))).toEqual(["timeout"]);
});
