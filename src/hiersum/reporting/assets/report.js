// The start of a report: the results lie in the page itself.

import { h } from "./dom.js";
import { themeButton } from "./theme.js";
import { showResults } from "./view.js";

const data = JSON.parse(document.getElementById("report-data").textContent);
document.title = `${data.results[0]?.title || "Summary"} · hiersum`;
document
  .getElementById("tools")
  .append(themeButton(), h("button", { type: "button", class: "quiet", onclick: () => print() }, "Print"));
showResults(document.getElementById("view"), data.results, { isComparison: data.is_comparison });
if (data.note) document.getElementById("view").prepend(h("p", { class: "soft" }, data.note));
