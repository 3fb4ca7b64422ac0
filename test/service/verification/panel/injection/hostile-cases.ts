import { readdirSync, readFileSync } from "node:fs";
import { z } from "zod";

const FOLDER = new URL("./cases/", import.meta.url);

const part = z.union([
  z.string(),
  z
    .strictObject({ repeat: z.string(), times: z.int().positive() })
    .transform(({ repeat, times }) => repeat.repeat(times)),
]);

const family = z.strictObject({
  family: z.string(),
  /** Which text of a case the hostile one is put into. */
  target: z.enum(["output", "specification", "criteria", "domain", "evidence"]),
  cases: z
    .array(
      z.strictObject({
        name: z.string(),
        /** `{{marker}}` stands for the fence marker of the call, which nobody knows outside of this suite. */
        text: z.union([z.string(), z.array(part).transform((parts) => parts.join(""))]),
        /** False for a text that asks for nothing and has to be caught by a check. */
        flips: z.boolean().default(true),
        /** Whether the output is the hostile text alone, without the bad work. */
        alone: z.boolean().default(false),
        /** Whether a run may fail for want of room. */
        mayFail: z.boolean().default(false),
      }),
    )
    .min(1),
});

export type HostileFamily = z.infer<typeof family>;
export type HostileCase = HostileFamily["cases"][number];

/** Every family of hostile texts, as the files beside this one hold them; throws for a file that is none. */
export function hostileFamilies(): readonly HostileFamily[] {
  return readdirSync(FOLDER)
    .sort()
    .map((file) => family.parse(JSON.parse(readFileSync(new URL(file, FOLDER), "utf8"))));
}

/** The marker as texts may hide it: whole, in halves, with unseen characters or in wide digits. */
export function withMarker(text: string, marker: string): string {
  const forms = {
    marker,
    MARKER: marker.toUpperCase(),
    half1: marker.slice(0, 16),
    half2: marker.slice(16),
    spaced: [...marker].join("\u200b"),
    wide: marker.replace(/./g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)),
  };
  return Object.entries(forms).reduce((filled, [name, form]) => filled.replaceAll(`{{${name}}}`, form), text);
}
