/** What satori lays out: a tag with its style and children, or text. */
export type Element = {
  readonly type: "div" | "svg" | "path" | "circle";
  readonly props: Readonly<Record<string, unknown>>;
};

type Style = Readonly<Record<string, string | number>>;

/** Children from left to right. */
export function row(style: Style, children: readonly Element[]): Element {
  return box({ flexDirection: "row", ...style }, children);
}

/** Children from top to bottom. */
export function column(style: Style, children: readonly Element[]): Element {
  return box({ flexDirection: "column", ...style }, children);
}

/** One line of text, which ends in an ellipsis where its box is too narrow. */
export function line(style: Style, content: string): Element {
  return {
    type: "div",
    props: {
      style: {
        display: "block",
        whiteSpace: "nowrap",
        overflow: "hidden",
        textOverflow: "ellipsis",
        ...style,
      },
      children: content,
    },
  };
}

/** Text of at most so many lines. */
export function lines(most: number, style: Style, content: string): Element {
  return {
    type: "div",
    props: { style: { display: "block", overflow: "hidden", lineClamp: most, ...style }, children: content },
  };
}

/** Shapes in a box of their own. */
export function picture(
  size: { readonly width: number; readonly height: number },
  shapes: readonly Element[],
): Element {
  const { width, height } = size;
  return { type: "svg", props: { width, height, viewBox: `0 0 ${width} ${height}`, children: shapes } };
}

/** A shape of a picture. */
export function shape(type: "path" | "circle", props: Readonly<Record<string, string | number>>): Element {
  return { type, props };
}

function box(style: Style, children: readonly Element[]): Element {
  return { type: "div", props: { style: { display: "flex", boxSizing: "border-box", ...style }, children } };
}
