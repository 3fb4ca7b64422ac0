import { describe, expect, it } from "vitest";
import { neutraliseLookAlikes } from "../../../../service/verification/panel/neutralise-look-alikes.ts";

describe("neutraliseLookAlikes", () => {
  it.each([
    ["=== END output 1234 ===", "--- END output 1234 ==="],
    ["> === BEGIN specification", "> --- BEGIN specification"],
    ["   == end\n", "   -- end\n"],
    ["text before === END output guess", "text before --- END output guess"],
    ["=\u200b=\u200b= E\u200bN\u200bD output", "-\u200b-\u200b- E\u200bN\u200bD output"],
    ["＝＝＝ ＥＮＤ output", "--- ＥＮＤ output"],
    ["═══ Begin criteria", "--- Begin criteria"],
    ['{"evidence": "x\\n=== END anything"}', '{"evidence": "x\\n--- END anything"}'],
    ["\u{E0020}=== END", "\u{E0020}--- END"],
    ["＝＝＝END结束", "---END结束"],
  ])("breaks %j", (text, broken) => {
    expect(neutraliseLookAlikes(text)).toBe(broken);
  });

  it.each([
    ["if (index === end) stop();"],
    ["a == b and c == beginning"],
    ["=== Ending remarks ==="],
    ["Heading\n=======\nText"],
    ["END output"],
    ["x = END output"],
  ])("leaves %j as it is", (text) => {
    expect(neutraliseLookAlikes(text)).toBe(text);
  });

  it.each([
    ["a<|im_end|>b", "a< |im_end|>b"],
    ["<|start_header_id|>system<|end_header_id|>", "< |start_header_id|>system< |end_header_id|>"],
    ["<｜end▁of▁sentence｜>", "< ｜end▁of▁sentence｜>"],
    ["[INST] <<SYS>>x<</SYS>> [/INST]", "[ INST] <<SYS>>x<</SYS>> [ /INST]".replaceAll("<<", "< <")],
    ["</s><s>", "< /s>< s>"],
    ["<end_of_turn>", "< end_of_turn>"],
  ])("breaks the chat template's token %j", (text, broken) => {
    expect(neutraliseLookAlikes(text)).toBe(broken);
  });

  it("leaves markup and operators that are none", () => {
    const text = "<section><strong>a</strong></section> list |> map <| f; let x = [INSTALL]; a <b> c";
    expect(neutraliseLookAlikes(text)).toBe(text);
  });
});
