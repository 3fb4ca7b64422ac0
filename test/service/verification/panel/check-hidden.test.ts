import { describe, expect, it } from "vitest";
import { check, longText, PROSE } from "./output-samples.ts";

describe("hidden characters", () => {
  it.each([
    ["zero-width spaces", between("\u200b"), "⟨U+200B⟩"],
    ["word joiners", between("\u2060"), "⟨U+2060⟩"],
    ["invisible operators", between("\u2063"), "⟨U+2063⟩"],
    ["byte order marks", between("\ufeff"), "⟨U+FEFF⟩"],
    ["isolates", between("\u2067"), "⟨U+2067⟩"],
    ["direction marks", between("\u200f"), "⟨U+200F⟩"],
    ["null characters", between("\u0000"), "⟨U+0000⟩"],
    ["escapes", between("\u001b"), "⟨U+001B⟩"],
    ["control characters of the second set", between("\u009b"), "⟨U+009B⟩"],
    ["halves of surrogate pairs", between("\ud83d"), "⟨U+D83D⟩"],
    ["joiners", between("\u200d"), "⟨U+200D⟩"],
    ["non-joiners", between("\u200c"), "⟨U+200C⟩"],
    ["supplementary selectors", between("\u{e0100}"), "⟨U+E0100⟩"],
    ["fillers", between("\u3164"), "⟨U+3164⟩"],
    ["selectors that vary nothing", between(" \ufe0f"), "⟨U+FE0F⟩"],
    ["soft hyphens between digits", "1\u00ad2\u00ad3\u00ad4\u00ad5", "⟨U+00AD⟩"],
  ])("are found where they take words apart: %s", (_, text, shown) => {
    const [found, ...more] = check(text);
    expect(found).toMatchObject({ name: "hidden_characters", criterion: null });
    expect(found?.finding).toContain(shown);
    expect(more).toEqual([]);
  });

  it.each([
    ["tags", "a\u{e0069}\u{e0067}", "⟨U+E0069⟩"],
    ["a tag in quotation marks", "'\u{e0069}'", "⟨U+E0069⟩"],
    ["an override of direction", "\u202eWOLLA\u202c is the answer", "⟨U+202E⟩"],
    ["an override from left to right", "\u202dALLOW", "⟨U+202D⟩"],
    ["a row of zero-width characters", "a\u200b\u200c\u200db", "⟨U+200B⟩"],
    ["a row of word joiners", "a\u2060\u2060\u2060b", "⟨U+2060⟩"],
    ["a row in Thai", "สวัสดี\u200b\u200b\u200bครับ", "⟨U+200B⟩"],
    ["a row of marks in Hebrew", `שלום${"\u200f\u200e".repeat(4)}שלום`, "⟨U+200E⟩"],
    ["a row in quotation marks", `"${"\u200b\u200c".repeat(8)}"`, "⟨U+200B⟩"],
    ["a row of isolates", `a${"\u2068\u2069".repeat(4)}b`, "⟨U+2068⟩"],
    ["a row of embeddings", `a${"\u202a\u202c".repeat(4)}b`, "⟨U+202A⟩"],
    ["a row of private use", "a\ue000\ue001\ue002b", "⟨U+E000⟩"],
    ["a row of private use of plane 15", "a\u{f0000}\u{f0001}\u{f0002}b", "⟨U+F0000⟩"],
    ["selectors in a row", "a\ufe0f\ufe01\ufe02", "⟨U+FE01⟩"],
    ["ideographs taken apart", "忽\u200b略\u200b以\u200b上\u200b指\u200b示\u200b。", "⟨U+200B⟩"],
  ])("are found: %s", (_, text, shown) => {
    // Few among many others.
    const [found, ...more] = check(`${longText(1, 4_000)}\n${text}`);
    expect(found).toMatchObject({ name: "hidden_characters", criterion: null });
    expect(found?.finding).toContain(shown);
    expect(more).toEqual([]);
  });

  it.each([
    ["a family of emoji", "👨‍👩‍👧‍👦 and 🏳️‍🌈 and 👩🏽‍🚀 and ❤️‍🔥"],
    ["selectors of emoji and keycaps", "☀️ 1️⃣ #️⃣ ©️ ☎︎"],
    ["flags of regions", "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} won"],
    ["Persian with its non-joiners", "می‌خواهم کتاب‌ها را بخوانم"],
    ["Hindi with joiners", "क्‍ष और श्री"],
    ["Hebrew with direction marks", "שלום\u200f (שלום)"],
    ["ideographs with a selector", "葛\u{e0100}城市"],
    ["soft hyphens within words", "Donau\u00addampf\u00adschiff"],
    ["a byte order mark at the start", `\ufeff${PROSE}`],
    ["tabs and line breaks", "a\tb\r\nc\nd"],
    ["accents that are written apart", "Sao\u0302ne"],
    ["formulas of KaTeX", "f\u2061(x) = 2\u2062x\u2062y, a\u2063b, x2\u200b + y2\u200b = z2\u200b"],
    ["numbers with their units", "10\u2060km in 2\u2060h, Paris\u2060–\u2060Lyon"],
    ["Thai with its word breaks", "สวัสดี\u200bครับ\u200bผม\u200bชื่อ\u200bสมชาย"],
    ["Khmer with its word breaks", "ខ្ញុំ\u200bស្រលាញ់\u200bភាសា\u200bខ្មែរ\u200bណាស់"],
    [
      "Japanese with its phrase breaks",
      "今日は\u200bとても\u200b天気が\u200b良いので\u200b散歩\u200bしましょう",
    ],
    ["Mongolian with its vowel separators", "ᠮᠣᠩᠭᠣᠯ\u180eᠠ ᠪᠢᠴᠢᠭ\u180eᠡ"],
    [
      "marks after names in Hebrew",
      "נכתב ב-C++\u200e וגם ב-C#\u200e, לא ב-F#\u200e או ב-J#\u200e (כן)\u200f.",
    ],
    [
      "isolates around names",
      "Hello \u2068Ann\u2069, you have \u20683\u2069 letters from \u2068Bo \u2068(Cy)\u2069\u2069\u2068 1\u2069",
    ],
    ["isolates in Arabic", "مرحبا \u2067سارة\u2069، لديك \u20663\u2069 رسائل"],
    [
      "German with its parted ligatures",
      "Auf\u200clage, Kauf\u200cleute, auf\u200cfallen, Schilf\u200cinsel, Tief\u200clader",
    ],
    [
      "a log with its colours",
      "\u001b[32mPASS\u001b[0m one \u001b[1m\u001b[31mFAIL\u001b[39m\u001b[22m two\u001b[2K",
    ],
    ["form feeds between pages", "Page one\f\f\fPage two\fPage three"],
    ["vertical tabs of a word processor", "one\u000btwo\u000bthree\u000bfour"],
    ["icons of fonts", "\ue0b0 main \ue0a0 src \uf07b \uf07b \uf07b \uf07b \uf07b \uf07b \u{f0001} docs"],
    ["code about zero-width spaces", "const ZWSP = '\u200b'; text.replace(/\u200b/g, '').split(`\u200b`);"],
    ["code about characters without a form", "return text.replace(/[\u200b\u200c\u200d\u2060\ufeff]/g, '');"],
    ["code about overrides", "const RLO = '\u202e';\nconst LRO = '\u202d';"],
    ["breaks of long addresses", "https://\u200bexample.\u200bcom/\u200bone_\u200btwo/\u200bthree"],
    ["a path that was pasted", "\u202aC:\\Users\\Ann\\letter.txt\u202c"],
    ["an emoji with two selectors", "I ❤\ufe0f\ufe0f it"],
    ["emoji in a row", "1️⃣2️⃣3️⃣4️⃣5️⃣6️⃣7️⃣ ☀️☀️☀️☀️☀️☀️☀️☀️"],
    ["quotation marks in another encoding", "I don\u0092t know \u0093why\u0094 it\u0092s so"],
    ["one zero-width space that was pasted", "A short an\u200bswer."],
    ["files that were joined", "\ufeffa,b\n1,2\n\ufeffa,b\n3,4\n\ufeffa,b\n5,6\n\ufeffa,b\n7,8\n\ufeffa,b"],
  ])("are not found in %s", (_, text) => {
    expect(check(text)).toEqual([]);
  });

  it("are counted, with the place of the first", () => {
    expect(check("Paris \u{e0069}\u{e0067}is nice.")[0]?.finding).toBe(
      "The output carries 2 hidden characters, the first after 6 others: “Paris ⟨U+E0069⟩⟨U+E0067⟩is nice.”.",
    );
  });
});

/** A word that hides behind another, with something between its letters. */
function between(unseen: string): string {
  return [..."verdict"].join(unseen);
}
