// What of which result is looked at, a sentence or a disagreement; every part of the view hears of it.

export class Selection {
  #listeners = [];
  #hoverTimer = 0;

  constructor() {
    this.result = 0;
    this.sentence = null;
    this.disagreement = null;
    this.isPinned = false;
  }

  /** Is nothing looked at? */
  get isEmpty() {
    return this.sentence === null && this.disagreement === null;
  }

  /** Call a function with (selection, isDeliberate) whenever something else is looked at. */
  subscribe(listener) {
    this.#listeners.push(listener);
  }

  /** Look at a sentence while the pointer or the focus is on it, unless something is pinned. */
  glance(result, sentence) {
    clearTimeout(this.#hoverTimer);
    // A pointer on its way elsewhere should not make the sources jump.
    this.#hoverTimer = setTimeout(
      () => {
        if (!this.isPinned) this.#set(result, { sentence }, false, false);
      },
      sentence === null ? 250 : 90,
    );
  }

  /** Keep a sentence until something else is chosen; choosing it again lets it go. */
  toggle(result, sentence) {
    this.#toggle(result, { sentence });
  }

  /** The same for a disagreement. */
  toggleDisagreement(result, disagreement) {
    this.#toggle(result, { disagreement });
  }

  /** Let go of whatever is chosen. */
  clear() {
    this.show(this.result);
  }

  /** Turn to another result. */
  show(result) {
    clearTimeout(this.#hoverTimer);
    this.#set(result, {}, false, true);
  }

  #toggle(result, what) {
    clearTimeout(this.#hoverTimer);
    if (this.isPinned && this.#is(result, what)) this.#set(result, {}, false, true);
    else this.#set(result, what, true, true);
  }

  #is(result, { sentence = null, disagreement = null }) {
    return this.result === result && this.sentence === sentence && this.disagreement === disagreement;
  }

  #set(result, what, isPinned, isDeliberate) {
    const isNews = !this.#is(result, what) || this.isPinned !== isPinned;
    const { sentence = null, disagreement = null } = what;
    Object.assign(this, { result, sentence, disagreement, isPinned });
    if (isNews) for (const listener of this.#listeners) listener(this, isDeliberate);
  }
}
