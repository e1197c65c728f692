// The documents of the live page: a list of names, and one box for the text of the one that is open.

import { count, freshId, h, hidden } from "./dom.js";
import { plainReason } from "./result.js";
import { readFile } from "./stream.js";

const KINDS = ".txt,.md,.html,.htm,.pdf,.docx,.eml,.mbox,.srt,.vtt,.gz,text/*";

/** The documents as one box, with `add`, `replaceAll` and `filled`. */
export class DocumentBox {
  #documents = [];
  #open = null;

  /** `onFilled` is called whenever a document gets text. */
  constructor(onFilled = () => {}) {
    this.onFilled = onFilled;
    this.list = h("ul", { class: "texts" });
    this.area = h("textarea", {
      id: freshId("text"),
      rows: "6",
      "aria-label": "Text",
      placeholder: "Paste a text here, or drop files: text, Markdown, HTML, PDF, Word, mail",
      dir: "auto",
      oninput: () => this.#edit({ text: this.area.value }),
    });
    this.name = h("input", {
      type: "text",
      "aria-label": "Name of the document",
      oninput: () => this.#edit({ name: this.name.value.trim() }),
    });
    this.picker = h("input", {
      type: "file",
      multiple: true,
      accept: KINDS,
      hidden: true,
      onchange: () => this.#take(this.picker),
    });
    this.amount = h("span", { class: "soft figure amount" });
    this.problems = h("ul", { class: "file-problems" });
    this.box = h(
      "div",
      { class: "drop" },
      this.list,
      h("div", { class: "text" }, this.name, this.area),
      h(
        "div",
        { class: "actions" },
        h("button", { type: "button", onclick: () => this.#addEmpty() }, "Add another text"),
        h("button", { type: "button", onclick: () => this.picker.click() }, "Choose files"),
        this.picker,
        this.amount,
      ),
    );
    this.whole = h("div", {}, this.box, h("div", { role: "alert" }, this.problems));
    this.#acceptDrops();
    this.replaceAll([{}]);
  }

  /** Append a document and open it. */
  add({ name = "", text = "", url = "" } = {}) {
    const document = { name, text, url };
    this.#documents.push(document);
    this.#show(document);
    if (text.trim()) this.onFilled();
  }

  /** Put other documents in the place of all, and open the first. */
  replaceAll(documents) {
    this.#documents = [];
    this.problems.replaceChildren();
    for (const document of documents) this.add(document);
    this.#show(this.#documents[0]);
  }

  /** The documents that have a text. */
  filled() {
    return this.#documents
      .filter(({ text }) => text.trim())
      .map((document) => ({ name: this.#nameOf(document), url: document.url, text: document.text }));
  }

  focus() {
    this.area.focus();
  }

  /** Read files one after the other; one that cannot be read is named, the others are kept. */
  async addFiles(files) {
    this.problems.replaceChildren();
    for (const file of files) {
      try {
        const { documents, unread } = await readFile(file);
        this.#documents = this.#documents.filter(({ text }) => text.trim());
        for (const document of documents) this.add(document);
        for (const part of unread) this.#complain(`${part.name}: ${plainReason(part.reason)}`);
      } catch (error) {
        this.#complain(
          error.message.startsWith(file.name) ? error.message : `${file.name}: ${plainReason(error.message)}`,
        );
      }
    }
  }

  #nameOf(document) {
    return document.name || `Document ${this.#documents.indexOf(document) + 1}`;
  }

  #show(document) {
    this.#open = document;
    this.area.value = document.text;
    this.name.value = document.name;
    this.name.placeholder = `Name of document ${this.#documents.indexOf(document) + 1} (optional)`;
    this.#list();
    this.list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  #edit(change) {
    Object.assign(this.#open, change);
    if (this.#open.text.trim()) this.onFilled();
    const row = this.list.children[this.#documents.indexOf(this.#open)];
    row.replaceWith(this.#row(this.#open));
    this.#count();
  }

  /** Two documents or more are listed by name; of a single one the box says enough. */
  #list() {
    this.list.hidden = this.#documents.length < 2;
    this.list.replaceChildren(...this.#documents.map((document) => this.#row(document)));
    this.#count();
  }

  /** How many documents there are; the list shows a few at a time. */
  #count() {
    const number = this.filled().length;
    this.amount.textContent = number > 1 ? count(number, "document") : "";
  }

  #row(document) {
    const name = this.#nameOf(document);
    const words = count(document.text.split(/\s+/).filter(Boolean).length, "word");
    const isOpen = document === this.#open;
    return h(
      "li",
      { class: isOpen ? "is-open" : "" },
      h(
        "button",
        {
          type: "button",
          class: "text-name",
          "aria-current": isOpen ? "true" : null,
          onclick: () => (this.#show(document), this.focus()),
        },
        h("span", { dir: "auto" }, name),
        h("span", { class: "soft figure" }, words),
      ),
      h(
        "button",
        { type: "button", class: "quiet", onclick: () => this.#remove(document) },
        "Remove",
        hidden(` ${name}`),
      ),
    );
  }

  /** Open an empty document; one that is there already is enough. */
  #addEmpty() {
    const empty = this.#documents.find(({ text }) => !text.trim());
    if (empty) this.#show(empty);
    else this.add();
    this.focus();
  }

  #remove(document) {
    const at = this.#documents.indexOf(document);
    this.#documents.splice(at, 1);
    this.#show(this.#documents[Math.min(at, this.#documents.length - 1)]);
    this.focus();
  }

  #complain(sentence) {
    this.problems.append(h("li", {}, sentence));
  }

  async #take(picker) {
    await this.addFiles([...picker.files]);
    picker.value = "";
  }

  /** A file may be dropped anywhere on the page; without this the browser would open it instead. */
  #acceptDrops() {
    const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
    const isOver = (value) => this.box.classList.toggle("is-over", value);
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
