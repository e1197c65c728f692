// One result line with its report: what is where, and what cites what.

const NUM_COLOURS = 8;
const EXTRACTIVE = ["lexrank", "lead"];

/** The key of a paragraph's place. */
export function keyOf(document, position) {
  return `${document}:${position}`;
}

export class Result {
  constructor(line) {
    const none = { documents: [], ranking: [], coverage: [], graphs: [], missing: [], cut: [] };
    this.line = line;
    this.report = { ...none, ...line.report };
    this.sentences = line.sentences;
    this.disagreements = line.disagreements ?? [];
    this.names = shortNames(line.documents);
    this.paragraphs = new Map();
    this.report.documents.forEach((of, document) => {
      for (const paragraph of of.paragraphs) {
        this.paragraphs.set(keyOf(document, paragraph.position), { ...paragraph, document });
      }
    });
    this.numbers = numberSources(this.sentences);
    this.citing = new Map();
    this.sentences.forEach((sentence, index) => {
      for (const { document, paragraph } of sentence.sources) {
        const key = keyOf(document, paragraph);
        this.citing.set(key, [...(this.citing.get(key) ?? []), index]);
      }
    });
  }

  get title() {
    return this.line.title || "Summary";
  }

  get numWords() {
    return this.line.summary.split(/\s+/).filter(Boolean).length;
  }

  /** Are all sentences the sources' own, rather than written by a model? */
  get isExtractive() {
    if (EXTRACTIVE.includes(this.line.system)) return true;
    const isTaken = ({ text, sources }) => {
      const cited = sources.map((of) => this.paragraphs.get(keyOf(of.document, of.paragraph))?.text ?? "");
      return cited.some((source) => allWordsOf(source).includes(allWordsOf(text)));
    };
    return this.sentences.length > 0 && this.sentences.every(isTaken);
  }

  /** "gazette.txt, paragraph 2": paragraphs are counted from 1 where people read. */
  placeName(document, position) {
    return `${this.names[document]}, paragraph ${position + 1}`;
  }

  /** The places that a selection lights up: sources of a sentence, or the sides of a disagreement. */
  placesOf({ sentence, disagreement }) {
    if (sentence !== null) return this.sentences[sentence].sources;
    if (disagreement === null) return [];
    return this.disagreements[disagreement].sides.map((side) => ({ ...side, quote: side.text }));
  }

  /** The place of a ranked paragraph, all others where the same text stands included. */
  placesOfRank(rank) {
    const ranked = this.report.ranking[rank];
    return ranked ? [[ranked.document, ranked.position], ...ranked.also_in] : [];
  }

  /** The ranks of the paragraphs that a selection lights up. */
  ranksOf(selection) {
    const keys = this.placesOf(selection).map((of) => keyOf(of.document, of.paragraph));
    return new Set(keys.map((key) => this.paragraphs.get(key)?.rank).filter((rank) => rank !== null));
  }

  /** The sentences that cite a ranked paragraph at any of its places. */
  sentencesCiting(rank) {
    const places = this.placesOfRank(rank);
    const found = places.flatMap(([document, position]) => this.citing.get(keyOf(document, position)) ?? []);
    return [...new Set(found)].sort((a, b) => a - b);
  }
}

/** The class that gives a document its colour. */
export function colourOf(document) {
  return `colour-${document % NUM_COLOURS}`;
}

// What systems do, as a choice to make and as a heading; others are of packages that people added.
const SYSTEMS = {
  ht: ["Write a summary", "Written summary"],
  ft: ["Write a summary", "Written summary"],
  tdmca: ["Write a summary", "Written summary"],
  lexrank: ["Quote the most central sentences", "Most central sentences"],
  lead: ["Quote the beginnings", "Beginnings"],
};

/** What a system does, as a choice to make. */
export function taskName(system) {
  return SYSTEMS[system]?.[0] ?? `Summarise with ${system}`;
}

/** What a system has made, as a heading. */
export function summaryName({ system }) {
  return SYSTEMS[system]?.[1] ?? `Summary by ${system}`;
}

/** A support as people read it, or nothing where it was not checked. */
export function percentOf(support) {
  return typeof support === "number" ? `${Math.round(support * 100)}%` : "";
}

/** A reason without the names of settings, which only the command line needs, and with those of languages. */
export function plainReason(reason) {
  const names = new Intl.DisplayNames("en", { type: "language" });
  return reason
    .replace(/\s*\((?:[^()]*--set )?[a-z_]+\.[a-z_]+[^)]*\)/g, "")
    .replace(
      /its language is ([a-z]{2,3}), not ([a-z]{2,3})\b/g,
      (_, own, wanted) => `its language is ${names.of(own)}, not ${names.of(wanted)}`,
    );
}

/** Number the cited paragraphs in the order in which they are first cited. */
function numberSources(sentences) {
  const numbers = new Map();
  for (const sentence of sentences) {
    for (const { document, paragraph } of sentence.sources) {
      const key = keyOf(document, paragraph);
      if (!numbers.has(key)) numbers.set(key, numbers.size + 1);
    }
  }
  return numbers;
}

/** Names without the folder that all of them lie in. */
function shortNames(documents) {
  const names = documents.map((of, index) => of.name || of.url || `document ${index + 1}`);
  const folders = names.map((name) => name.slice(0, name.lastIndexOf("/") + 1));
  let shared = folders[0] ?? "";
  while (shared && !folders.every((folder) => folder.startsWith(shared))) {
    shared = shared.slice(0, shared.lastIndexOf("/", shared.length - 2) + 1);
  }
  return names.map((name) => name.slice(shared.length) || name);
}

/** Split a text into sentences, each with what follows it. */
function splitSentences(text) {
  if (!Intl.Segmenter) return [text];
  return Array.from(
    new Intl.Segmenter("en", { granularity: "sentence" }).segment(text),
    (part) => part.segment,
  );
}

function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
}

/** A pattern that finds a text whatever its spaces and line breaks are. */
function pattern(text) {
  const words = text.trim().split(/\s+/);
  return new RegExp(words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("\\s+"));
}

/** All words of a text in a row, so that one row can be looked for within another. */
function allWordsOf(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return ` ${words.join(" ")} `;
}

/** The sentences of a quote, which stand one on each line. */
export function quotedSentences(quote) {
  return (quote ?? "").split("\n").filter((line) => line.trim());
}

/** Cut a source into parts and mark the quoted ones, or else the one with most of the sentence's words. */
export function closestParts(source, sentence, quote = "") {
  const quoted = quotedSentences(quote)
    .map((line) => pattern(line).exec(source))
    .filter(Boolean)
    .sort((a, b) => a.index - b.index);
  if (quoted.length) return cutAround(source, quoted);
  const wanted = new Set(wordsOf(sentence));
  const parts = splitSentences(source);
  const shares = parts.map((part) => {
    const has = new Set(wordsOf(part));
    return [...wanted].filter((word) => has.has(word)).length / Math.max(wanted.size, 1);
  });
  const best = Math.max(...shares);
  return parts.map((text, index) => ({ text, isClosest: best > 0 && shares[index] === best }));
}

function cutAround(source, matches) {
  const parts = [];
  let end = 0;
  for (const { 0: text, index } of matches) {
    if (index < end) continue;
    parts.push({ text: source.slice(end, index), isClosest: false }, { text, isClosest: true });
    end = index + text.length;
  }
  return [...parts, { text: source.slice(end), isClosest: false }].filter(({ text }) => text);
}
