// Which sentence of which result is looked at; every part of the view hears of it.

export class Selection {
  #listeners = [];
  #hoverTimer = 0;

  constructor() {
    this.result = 0;
    this.sentence = null;
    this.isPinned = false;
  }

  /** Call a function with (selection, isDeliberate) whenever another sentence is looked at. */
  subscribe(listener) {
    this.#listeners.push(listener);
  }

  /** Look at a sentence while the pointer or the focus is on it, unless another one is pinned. */
  glance(result, sentence) {
    clearTimeout(this.#hoverTimer);
    // A pointer on its way elsewhere should not make the sources jump.
    this.#hoverTimer = setTimeout(
      () => {
        if (!this.isPinned) this.#set(result, sentence, false, false);
      },
      sentence === null ? 250 : 90,
    );
  }

  /** Keep a sentence until another one is chosen; choosing it again lets it go. */
  toggle(result, sentence) {
    clearTimeout(this.#hoverTimer);
    const isSame = this.isPinned && this.result === result && this.sentence === sentence;
    if (isSame) this.#set(result, null, false, true);
    else this.#set(result, sentence, true, true);
  }

  /** Let go of whatever is chosen. */
  clear() {
    clearTimeout(this.#hoverTimer);
    this.#set(this.result, null, false, true);
  }

  /** Turn to another result. */
  show(result) {
    this.#set(result, null, false, true);
  }

  #set(result, sentence, isPinned, isDeliberate) {
    const isNews = this.result !== result || this.sentence !== sentence || this.isPinned !== isPinned;
    this.result = result;
    this.sentence = sentence;
    this.isPinned = isPinned;
    if (isNews) for (const listener of this.#listeners) listener(this, isDeliberate);
  }
}
