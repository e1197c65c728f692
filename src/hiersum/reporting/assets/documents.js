// The documents of the live page: texts that are pasted, and files that are dropped.

import { count, h } from "./dom.js";
import { plainReason } from "./result.js";
import { readFile } from "./stream.js";

const KINDS = ".txt,.md,.html,.htm,.pdf,.docx,.gz,text/*";

/** The list of texts as elements, with `add`, `replaceAll` and `filled`. */
export class DocumentList {
  /** `onFilled` is called whenever a document gets text. */
  constructor(onFilled = () => {}) {
    this.onFilled = onFilled;
    this.list = h("ul", { class: "texts" });
    this.problems = h("ul", { class: "file-problems" });
    this.picker = h("input", {
      type: "file",
      multiple: true,
      accept: KINDS,
      hidden: true,
      onchange: () => this.#take(this.picker),
    });
    this.drop = h(
      "div",
      { class: "drop" },
      h("p", {}, "Drop files here (.txt, .md, .html, .pdf, .docx), or paste a text above."),
      h("button", { type: "button", onclick: () => this.picker.click() }, "Choose files"),
      h("button", { type: "button", onclick: () => this.add().focus() }, "Add a text"),
      this.picker,
    );
    this.whole = h("div", {}, this.list, this.drop, h("div", { role: "alert" }, this.problems));
    this.#acceptDrops();
    this.add();
  }

  /** Append a text and return its text area. */
  add({ name = "", text = "", url = "" } = {}) {
    const words = h("span", { class: "soft figure" });
    const tell = () => {
      words.textContent = count(area.value.split(/\s+/).filter(Boolean).length, "word");
      if (area.value.trim()) this.onFilled();
    };
    const area = h("textarea", {
      rows: "4",
      "aria-label": "Text",
      placeholder: "Paste a text here",
      dir: "auto",
      oninput: tell,
    });
    area.value = text;
    const title = h("input", {
      type: "text",
      "aria-label": "Name of the document",
      value: name,
      placeholder: `Document ${this.list.children.length + 1}`,
    });
    const remove = h(
      "button",
      { type: "button", class: "quiet", onclick: () => this.#remove(item) },
      "Remove",
    );
    const item = h("li", { class: "text" }, h("div", { class: "text-head" }, title, words, remove), area);
    item.read = () => ({ name: title.value.trim() || title.placeholder, url, text: area.value });
    tell();
    this.list.append(item);
    return area;
  }

  /** Put other documents in the place of all. */
  replaceAll(documents) {
    this.list.replaceChildren();
    this.problems.replaceChildren();
    for (const document of documents) this.add(document);
  }

  /** The documents that have a text. */
  filled() {
    return [...this.list.children].map((item) => item.read()).filter((document) => document.text.trim());
  }

  /** Read files one after the other; one that cannot be read is named, the others are kept. */
  async addFiles(files) {
    this.problems.replaceChildren();
    for (const file of files) {
      try {
        const { documents, unread } = await readFile(file);
        for (const item of [...this.list.children]) if (!item.read().text.trim()) item.remove();
        for (const document of documents) this.add(document);
        for (const part of unread) this.#complain(`${part.name}: ${plainReason(part.reason)}`);
      } catch (error) {
        this.#complain(
          error.message.startsWith(file.name) ? error.message : `${file.name}: ${error.message}`,
        );
      }
    }
    if (!this.list.children.length) this.add();
  }

  #complain(sentence) {
    this.problems.append(h("li", {}, sentence));
  }

  async #take(picker) {
    await this.addFiles([...picker.files]);
    picker.value = "";
  }

  #remove(item) {
    const next = item.nextElementSibling ?? item.previousElementSibling;
    item.remove();
    (next ? next.querySelector("textarea") : this.add()).focus();
  }

  /** A file may be dropped anywhere on the page; without this the browser would open it instead. */
  #acceptDrops() {
    const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
    const isOver = (value) => this.drop.classList.toggle("is-over", value);
    addEventListener("dragover", (event) => hasFiles(event) && (event.preventDefault(), isOver(true)));
    addEventListener("dragleave", (event) => event.relatedTarget === null && isOver(false));
    addEventListener("drop", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      isOver(false);
      this.addFiles([...event.dataTransfer.files]);
    });
  }
}
