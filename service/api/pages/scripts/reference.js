// Shows the OpenAPI document with Redoc, in the colours of the page. `type` of a problem leads here: its page explains it.
const PROBLEM = "#problem-";

if (location.hash.startsWith(PROBLEM)) location.replace(`/docs/problems${location.hash}`);
// The bundle is a deferred script, which runs after this module.
else document.addEventListener("DOMContentLoaded", start);

function start() {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => location.reload());
  const place = document.getElementById("reference");
  const shown = document.createElement("div");
  place.replaceChildren(shown);
  window.Redoc.init(place.dataset.document, optionsFor(colour), shown);
}

/** A colour of the stylesheet. */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function optionsFor(of) {
  const text = { primary: of("ink"), secondary: of("soft") };
  const family = "Inter, system-ui, sans-serif";
  const code = 'ui-monospace, "SF Mono", Menlo, Consolas, monospace';
  return {
    nativeScrollbars: true,
    hideDownloadButtons: true,
    pathInMiddlePanel: true,
    sortRequiredPropsFirst: true,
    jsonSamplesExpandLevel: 3,
    theme: {
      spacing: { sectionVertical: 28 },
      breakpoints: { medium: "60rem", large: "82rem" },
      colors: {
        primary: { main: of("accent") },
        success: { main: of("a") },
        warning: { main: of("warn") },
        error: { main: of("alarm") },
        gray: { 50: of("sunk"), 100: of("line") },
        border: { dark: of("line"), light: of("line") },
        text,
        responses: {
          success: { color: of("a"), backgroundColor: of("sunk"), tabTextColor: "#2fd27d" },
          error: { color: of("alarm"), backgroundColor: of("sunk"), tabTextColor: "#ff7482" },
          redirect: { color: of("warn"), backgroundColor: of("sunk"), tabTextColor: "#f5c542" },
          info: { color: of("soft"), backgroundColor: of("sunk"), tabTextColor: "#a7b1d1" },
        },
        http: { get: of("b"), post: of("accent"), put: of("d"), delete: of("alarm") },
      },
      schema: {
        linesColor: of("rule"),
        nestedBackground: of("sunk"),
        typeNameColor: of("soft"),
        typeTitleColor: of("soft"),
      },
      typography: {
        fontSize: "15px",
        lineHeight: "1.55",
        fontFamily: family,
        headings: { fontFamily: family, fontWeight: "600" },
        code: {
          fontFamily: code,
          fontSize: "13px",
          color: of("ink"),
          backgroundColor: of("sunk"),
          wrap: true,
        },
        links: { color: of("accent"), visited: of("accent"), hover: of("accent-strong") },
      },
      sidebar: {
        width: "270px",
        backgroundColor: of("sheet"),
        textColor: of("ink"),
        activeTextColor: of("accent"),
      },
      rightPanel: { backgroundColor: "#131a30", width: "38%", textColor: "#eef1fb" },
      codeBlock: { backgroundColor: "#0b1020" },
    },
  };
}
