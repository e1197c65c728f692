// Results as files: the result line as JSON, and the report, which is put together here in the browser.

import { h } from "./dom.js";

const DATA = /(<script type="application\/json" id="report-data">)(<\/script>)/;

/** Return the buttons below a summary. */
export function downloadButtons(results, index) {
  const name = fileName(results[index].title);
  const { report, ...line } = results[index];
  const copy = h("button", { type: "button", onclick: copyText }, "Copy");
  async function copyText() {
    await navigator.clipboard.writeText(line.sentences.map(({ shown }) => shown).join(" "));
    copy.textContent = "Copied";
    setTimeout(() => (copy.textContent = "Copy"), 2000);
  }
  return [
    navigator.clipboard ? copy : null,
    h(
      "button",
      { type: "button", onclick: () => save(`${name}.json`, "application/json", JSON.stringify(line)) },
      "JSON",
    ),
    h(
      "button",
      { type: "button", onclick: async () => save(`${name}.html`, "text/html", await reportPage(results)) },
      "Report",
    ),
  ];
}

/** The same page that `hiersum summarize --report` writes, with these results in it. */
async function reportPage(results) {
  const page = await (await fetch("assets/report.html")).text();
  const data = JSON.stringify({ results, is_comparison: results.length > 1, note: "" });
  const escaped = data.replace(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return page.replace(DATA, (_, start, end) => start + escaped + end);
}

function fileName(title) {
  return (
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 60) || "summary"
  );
}

function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
